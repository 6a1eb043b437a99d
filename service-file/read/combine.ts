import { NO_OTHER_SERVICES, type OtherServices } from '../included.ts';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { Dependency, Service } from '../schema.ts';
import { type LocatedDependency, resolveDependencies } from './depends-on.ts';
import { withJobs } from './jobs.ts';
import { addAlias } from './networks.ts';
import type { LocatedService } from './service.ts';

/** A service with what depends on other services, in the model's names; without its jobs. */
export interface CombinedService {
  located: LocatedService;
  service: Service;
}

/**
 * Checks the services against each other, and determines for each its dependencies, its aliases, and whether it runs
 * once. `leftOut`: services whose profiles are not enabled. `volumes`: names in the model. `others`: the services of the
 * repositories that the file includes, which its own can depend on.
 */
export function combine(
  services: readonly LocatedService[],
  leftOut: ReadonlySet<string>,
  volumes: ReadonlyMap<string, { name: string }>,
  problems: Problems,
  others: OtherServices = NO_OTHER_SERVICES,
): { combined: CombinedService[]; services: Service[] } {
  const dependents = new Map(
    services.map((located) => [
      located.key,
      { dependsOn: waitsFor(located), hasHealthcheck: located.service.healthcheck !== undefined },
    ]),
  );
  const dependencies = resolveDependencies(dependents, leftOut, problems, others);
  const names = new Map(services.map(({ key, service }) => [key, service.name]));
  const awaited = new Set(
    [...dependencies.values()].flat().flatMap(({ service, condition }) => (condition === 'completed' ? service : [])),
  );
  const aliases = collectAliases(services, problems);
  const combined = services.map((located): CombinedService => {
    const runs = runsOnce(located, awaited.has(located.key), problems) ? 'once' : 'continuously';
    const service: Service = {
      ...located.service,
      runs,
      ...(runs === 'once' && { replicas: 1 }),
      dependsOn: named(dependencies.get(located.key) ?? [], names),
      aliases: aliases.get(located.key) ?? [],
    };
    return { located, service };
  });
  const taken = new Set(combined.flatMap(({ service: { name, aliases: others } }) => [name, ...others]));
  const all = combined.flatMap(({ located, service }) =>
    withJobs(service, located.extension.jobs, volumes, taken, problems),
  );
  return { combined, services: all.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Returns the dependencies, including links, as in Compose. */
function waitsFor({ dependsOn, links }: LocatedService): LocatedDependency[] {
  return [
    ...dependsOn,
    ...links.map(({ service, at }) => ({ service, at, condition: 'started' as const, required: true })),
  ];
}

function named(dependencies: readonly Dependency[], names: ReadonlyMap<string, string>): Dependency[] {
  return dependencies
    .map(({ service, condition }) => ({ service: names.get(service) ?? service, condition }))
    .sort((a, b) => (a.service < b.service ? -1 : 1));
}

/**
 * Returns whether a service runs once: if another one waits for its completion, or the file says that it is not
 * restarted. A service with ports or a health check is a server, whose author only meant that it is not restarted after
 * failures.
 */
function runsOnce({ service, restarts, restartAt }: LocatedService, isAwaited: boolean, problems: Problems): boolean {
  if (isAwaited) {
    if (restarts === true)
      problems.warn(restartAt, 'ignored: another service waits for its completion, so it runs once');
    return true;
  }
  if (restarts !== false) return false;
  if (service.ports.length === 0 && service.udpPorts.length === 0 && service.healthcheck === undefined) return true;
  problems.warn(restartAt, 'ignored: it has ports or a health check, so it is a server, which is always started again');
  return false;
}

/** Limit for all services together: each alias is a Kubernetes Service. */
export const MAX_ALIASES = 50;

/** Returns the aliases of each service, sorted: from its networks, and from links of other services. */
function collectAliases(services: readonly LocatedService[], problems: Problems): ReadonlyMap<string, string[]> {
  const found = services.flatMap(({ key, aliases, links }) => {
    const linked = links.flatMap(({ service, alias, at }) => {
      const named: { name: string; at: SourcePosition }[] = [];
      if (alias !== undefined) addAlias(alias, at, named, problems);
      return named.map((each) => ({ key: service, ...each }));
    });
    return [...aliases.map((alias) => ({ key, ...alias })), ...linked];
  });
  const owners = new Map(services.map(({ key, service }) => [service.name, key]));
  const result = new Map<string, string[]>();
  for (const { key, name, at } of found) {
    const owner = owners.get(name);
    if (owner !== undefined && owner !== key) {
      problems.error(
        at,
        `the host name ${quoted(name)} is that of the service ${quoted(owner)} already: choose another`,
      );
    } else if (owner === undefined) {
      owners.set(name, key);
      if (owners.size === services.length + MAX_ALIASES + 1)
        problems.error(at, tooMany(MAX_ALIASES, 'aliases and links'));
      const names = result.get(key) ?? [];
      names.push(name);
      result.set(key, names);
    }
  }
  for (const names of result.values()) names.sort();
  return result;
}
