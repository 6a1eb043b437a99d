import { NO_OTHER_SERVICES, type OtherServices, UNKNOWN_SERVICES } from '../included.ts';
import { tooMany } from '../problems.ts';
import type { IncludedRepository, Service, ServiceFile, Volume } from '../schema.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';
import { Bundles } from './bundles.ts';
import { combine, type CombinedService } from './combine.ts';
import { readContents } from './contents.ts';
import type { ReadContext } from './context.ts';
import type { FileScope } from './file-scope.ts';
import { configKeys, secretKeys, topLevelKeys } from './keys/top-level-keys.ts';
import { readServiceNames } from './names.ts';
import { readNetworks } from './networks.ts';
import { readFileExtension } from './file-extension.ts';
import { enabledServices } from './profiles.ts';
import { planPublicRoutes } from './public-routes.ts';
import { emptyAsMap, type Fields, kindOf, optional, readFields } from './read.ts';
import { type LocatedService, readService } from './service.ts';
import { MAX_VOLUMES, readVolumes } from './volumes.ts';

/** Including jobs. */
export const MAX_SERVICES = 100;
/** Maximum size of the model as JSON: each revision of an environment is stored and cached. */
export const MAX_MODEL_KIB = 256;

/**
 * Reads a merged tree into the model. Each key is supported, ignored with a warning, or an error; all errors are
 * reported at once. Returns undefined only if there are errors.
 */
export async function readTree(root: YamlNode, context: ReadContext): Promise<ServiceFile | undefined> {
  const { problems } = context;
  const fields = readFields(root, topLevelKeys, problems);
  if (fields === undefined) return undefined;
  const scope = readScope(fields, context);
  const extension = optional(fields, 'x-coppice', readFileExtension, problems);
  const services = fields.get('services')?.value ?? emptyAsMap({ ...root, kind: 'scalar', value: null, source: '' });
  if (services.kind !== 'map')
    return problems.error(services, `must be a map of services, this is ${kindOf(services)}`);
  if (extension?.repositories === undefined) {
    if (!fields.has('services')) return problems.error(root, 'has no services: add "services:" with at least one');
    if (services.entries.length === 0) return problems.error(services, 'is empty: add at least one service');
  }
  if (services.entries.length > MAX_SERVICES) return problems.error(services, tooMany(MAX_SERVICES, 'services'));
  const enabled = enabledServices(services.entries, context);
  if (enabled.length === 0 && services.entries.length > 0)
    return problems.error(services, 'none of the services has an enabled profile: name one in COMPOSE_PROFILES');
  const located = await readServices(enabled, scope);
  if (located === undefined) return undefined;
  // Otherwise other repositories would be read for a file that cannot be used.
  if (extension?.repositories !== undefined && problems.hasErrors) return undefined;
  const others = await otherServices(extension?.repositories, context);
  const leftOut = new Set(services.entries.filter((entry) => !enabled.includes(entry)).map(({ key }) => key));
  const { combined, services: all } = combine(located, leftOut, scope.volumes, problems, others);
  if (all.length > MAX_SERVICES) return problems.error(services, tooMany(MAX_SERVICES, 'services and jobs'));
  // Otherwise an invalid port would be reported again as missing.
  if (problems.hasErrors) return undefined;
  const volumes = usedVolumes(all, scope);
  if (volumes.length > MAX_VOLUMES) return problems.error(services, tooMany(MAX_VOLUMES, 'volumes'));
  const serviceFile = {
    services: all,
    publicRoutes: planPublicRoutes(combined.map(routed), services, problems, context.included),
    volumes,
    bundles: scope.bundles.all,
    ...extension,
  };
  if (JSON.stringify(serviceFile).length <= MAX_MODEL_KIB * 1024) return serviceFile;
  return problems.error(
    services,
    `the services are larger than ${MAX_MODEL_KIB} KiB with their variables filled in: shorten them`,
  );
}

async function otherServices(
  repositories: readonly IncludedRepository[] | undefined,
  { include }: ReadContext,
): Promise<OtherServices> {
  if (repositories === undefined) return NO_OTHER_SERVICES;
  return include ? { ...(await include(repositories)), areUnknown: false } : UNKNOWN_SERVICES;
}

function readScope(fields: Fields, context: ReadContext): FileScope {
  const { problems, contents, hashKey } = context;
  return {
    ...context,
    volumes: readVolumes(fields.get('volumes')?.value, problems),
    networks: readNetworks(fields.get('networks')?.value, problems),
    configs: readContents(fields.get('configs')?.value, configKeys, context),
    secrets: readContents(fields.get('secrets')?.value, secretKeys, context),
    bundles: new Bundles(problems, contents, hashKey),
    envFiles: new Map(),
    folderBundles: new Map(),
    folderVolumes: new Map(),
  };
}

/** Sequentially, so that a file's problems and bundles do not depend on timing. */
async function readServices(entries: readonly YamlEntry[], scope: FileScope): Promise<LocatedService[] | undefined> {
  const names = readServiceNames(entries, scope.problems);
  const located: LocatedService[] = [];
  for (const entry of entries) {
    const service = await readService(entry, names?.get(entry.key) ?? entry.key, scope);
    if (service !== undefined) located.push(service);
  }
  return names === undefined || located.length < entries.length ? undefined : located;
}

function routed({ located, service }: CombinedService) {
  return {
    name: service.name,
    at: located.at,
    published: located.published,
    ports: service.ports,
    named: located.extension.routes,
    runsOnce: service.runs !== 'continuously',
  };
}

/** Returns the mounted volumes, sorted by name; others need no storage. */
function usedVolumes(services: readonly Service[], { volumes, folderVolumes }: FileScope): Volume[] {
  const used = new Set(
    services.flatMap(({ mounts }) => mounts.flatMap((mount) => (mount.type === 'volume' ? mount.volume : []))),
  );
  return [...volumes.values(), ...folderVolumes.values()]
    .filter(({ name }) => used.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
