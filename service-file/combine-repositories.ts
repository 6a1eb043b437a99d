import { createHash } from 'node:crypto';
import { MAX_MOUNTED_FILES, MAX_MOUNTED_KIB } from './read/bundles.ts';
import { MAX_ALIASES } from './read/combine.ts';
import { MAX_NAME_LENGTH } from './read/names.ts';
import { MAX_NETWORKS } from './read/networks.ts';
import { MAX_ROUTES } from './read/public-routes.ts';
import { MAX_MODEL_KIB, MAX_SERVICES } from './read/service-file.ts';
import { MAX_VOLUMES } from './read/volumes.ts';
import type { FileBundle, Mount, PublicRoute, Service, ServiceFile } from './schema.ts';

/** The service file of one repository of an environment. */
export interface RepositoryServices {
  /** Name of the Repository. */
  repository: string;
  serviceFile: ServiceFile;
}

/** A name or an address that only one repository can have. */
interface Claim {
  key: string;
  what: string;
  /** What in the file claims it. */
  by: string;
  remedy: string;
}

/**
 * Returns an included service file as part of another one: its volumes are named after its repository, so that those of
 * two repositories are never the same, and `alias` is that of its public routes without one.
 */
export function asIncluded({ repository, serviceFile }: RepositoryServices, alias?: string): RepositoryServices {
  const volumes = new Map(serviceFile.volumes.map(({ name }) => [name, volumeOf(repository, name)]));
  const renamed = (volume: string) => volumes.get(volume) ?? volume;
  const services = serviceFile.services.map((service): Service => {
    const mounts = service.mounts.map((mount): Mount =>
      mount.type === 'volume' ? { ...mount, volume: renamed(mount.volume) } : mount,
    );
    return { ...service, mounts, ...(service.seeds !== undefined && { seeds: renamed(service.seeds) }) };
  });
  return {
    repository,
    serviceFile: {
      ...serviceFile,
      services,
      volumes: serviceFile.volumes.map((volume) => ({ ...volume, name: renamed(volume.name) })),
      publicRoutes: serviceFile.publicRoutes.map((route) =>
        route.alias === undefined && alias !== undefined ? { ...route, alias } : route,
      ),
    },
  };
}

/**
 * Returns the service file of an environment of several repositories: the services of all, and everything else of its
 * own repository. `problems`: names that two of them have, and limits that they exceed together.
 */
export function combineRepositories(
  own: RepositoryServices,
  included: readonly RepositoryServices[],
): { serviceFile: ServiceFile; problems: string[] } {
  const all = [own, ...included];
  const services = all.flatMap(({ serviceFile }) => serviceFile.services).sort(byName);
  const publicRoutes = all.flatMap(({ serviceFile }) => serviceFile.publicRoutes).sort(byAddress);
  const volumes = all.flatMap(({ serviceFile }) => serviceFile.volumes).sort(byName);
  const bundles = [
    ...new Map(all.flatMap(({ serviceFile }) => serviceFile.bundles).map((bundle) => [bundle.name, bundle])).values(),
  ].sort(byName);
  const serviceFile = { ...own.serviceFile, services, publicRoutes, volumes, bundles };
  return { serviceFile, problems: [...clashes(all), ...excesses(serviceFile)] };
}

/** Returns the names and addresses that two repositories have. */
function clashes(all: readonly RepositoryServices[]): string[] {
  const taken = new Map<string, Claim & { repository: string }>();
  return all.flatMap(({ repository, serviceFile }) =>
    claimsOf(serviceFile).flatMap((claim) => {
      const other = taken.get(claim.key);
      if (!other) taken.set(claim.key, { ...claim, repository });
      // Within one file it was reported already, or is permitted, as several paths of a service.
      if (!other || other.repository === repository) return [];
      const { what, by, remedy } = claim;
      return [`${what} is taken twice, by ${other.by} of ${other.repository} and by ${by} of ${repository}: ${remedy}`];
    }),
  );
}

/** Returns what a service file claims for itself. */
function claimsOf({ services, publicRoutes, volumes }: ServiceFile): Claim[] {
  const host = (name: string, by: string): Claim => ({
    key: `host ${name}`,
    what: `the host name ${name}`,
    by,
    remedy: 'rename one',
  });
  return [
    ...services.flatMap(({ name, aliases }) => [
      host(name, `the service ${name}`),
      ...aliases.map((alias) => host(alias, `an alias of the service ${name}`)),
    ]),
    ...volumes.map(({ name }) => ({
      key: `volume ${name}`,
      what: `the volume name ${name}`,
      by: 'a volume',
      remedy: 'rename one',
    })),
    ...publicRoutes.map((route) => ({
      key: `route ${addressOf(route)}`,
      what: `the public address ${[route.alias, route.path].filter((part) => part !== undefined).join(' ')}`,
      by: `the service ${route.service}`,
      remedy: 'give the included repository an alias in x-coppice.repositories, or one of the routes another path',
    })),
  ];
}

/** Returns the limits of a service file that those of all repositories exceed together. */
function excesses(serviceFile: ServiceFile): string[] {
  const { services, publicRoutes, volumes, bundles } = serviceFile;
  const kib = (bytes: number) => Math.ceil(bytes / 1024);
  const bytes = bundles.flatMap((bundle: FileBundle) => bundle.files).map(({ stored }) => stored?.bytes ?? 0);
  const counts: [what: string, count: number, max: number][] = [
    ['services and jobs', services.length, MAX_SERVICES],
    ['volumes', volumes.length, MAX_VOLUMES],
    ['aliases and links', services.flatMap(({ aliases }) => aliases).length, MAX_ALIASES],
    ['networks', new Set(services.flatMap(({ networks }) => networks)).size, MAX_NETWORKS],
    ['public routes', publicRoutes.length, MAX_ROUTES],
    ['mounted files', bytes.length, MAX_MOUNTED_FILES],
    ['KiB of mounted files', kib(bytes.reduce((sum, one) => sum + one, 0)), MAX_MOUNTED_KIB],
    ['KiB of services', kib(Buffer.byteLength(JSON.stringify(serviceFile))), MAX_MODEL_KIB],
  ];
  return counts.flatMap(([what, count, max]) =>
    count > max ? [`all repositories have ${count} ${what} together, and the limit is ${max}: remove some`] : [],
  );
}

/** Returns a name within the limit of names, which a hash keeps apart from others. */
function volumeOf(repository: string, volume: string): string {
  const name = `${repository}-${volume}`;
  if (name.length <= MAX_NAME_LENGTH) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, MAX_NAME_LENGTH - 9)}-${hash}`;
}

function addressOf({ alias = '', path }: PublicRoute): string {
  return `${alias}${path}`;
}

function byAddress(one: PublicRoute, other: PublicRoute): number {
  return addressOf(one) < addressOf(other) ? -1 : 1;
}

function byName({ name: one }: { name: string }, { name: other }: { name: string }): number {
  return one < other ? -1 : 1;
}
