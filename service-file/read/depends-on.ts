import { NO_OTHER_SERVICES, type OtherServices } from '../included.ts';
import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Dependency } from '../schema.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';
import { dependencyKeys } from './keys/service-keys.ts';
import { nearest } from './nearest.ts';
import { kindOf, optional, readBoolean, readFields, readName } from './read.ts';

/** A dependency in the file; `service` is the name in the file. */
export interface LocatedDependency extends Dependency {
  at: SourcePosition;
  /** False if the service may be missing. */
  required: boolean;
}

const conditions = new Map<string, Dependency['condition']>([
  ['service_started', 'started'],
  ['service_healthy', 'healthy'],
  ['service_completed_successfully', 'completed'],
]);

/** Reads `depends_on`: a list of services, or a map with a condition for each. */
export function readDependsOn(node: YamlNode, problems: Problems): LocatedDependency[] | undefined {
  if (node.kind === 'scalar') {
    return problems.error(node, `must be a list of services or a map with conditions, this is ${kindOf(node)}`);
  }
  if (node.kind === 'map') return node.entries.flatMap((entry) => readEntry(entry, problems) ?? []);
  const found = new Map<string, LocatedDependency>();
  for (const item of node.items) {
    const service = readName(item, problems);
    if (service === undefined) continue;
    if (found.has(service)) problems.error(item, 'is listed twice: remove one');
    else found.set(service, { service, condition: 'started', required: true, at: item });
  }
  return [...found.values()];
}

function readEntry({ key, at, value }: YamlEntry, problems: Problems): LocatedDependency | undefined {
  const fields = readFields(value, dependencyKeys, problems);
  if (fields === undefined) return undefined;
  const required = optional(fields, 'required', readBoolean, problems) ?? true;
  const conditionNode = fields.get('condition')?.value;
  if (conditionNode === undefined) {
    return problems.error(at, `has no condition: write one of ${[...conditions.keys()].join(', ')}`);
  }
  const text = readName(conditionNode, problems);
  const condition = conditions.get(text ?? '');
  if (condition !== undefined) return { service: key, condition, required, at };
  if (text === undefined) return undefined;
  return problems.error(conditionNode, `${quoted(text)} is not a condition: use ${[...conditions.keys()].join(', ')}`);
}

interface Dependent {
  dependsOn: readonly LocatedDependency[];
  hasHealthcheck: boolean;
}

/**
 * Returns the existing dependencies of each service, by names in the file. `leftOut` are the services whose profiles
 * are not enabled; requiring one of them is an error. `others`: the services of included repositories.
 */
export function resolveDependencies(
  services: ReadonlyMap<string, Dependent>,
  leftOut: ReadonlySet<string>,
  problems: Problems,
  others: OtherServices = NO_OTHER_SERVICES,
): ReadonlyMap<string, readonly Dependency[]> {
  const resolved = new Map<string, readonly Dependency[]>();
  for (const [name, { dependsOn }] of services) {
    const found = new Map<string, Dependency>();
    for (const dependency of dependsOn) {
      const isOwn = services.has(dependency.service);
      const condition = isOwn
        ? checkedCondition(dependency, services, leftOut, problems)
        : conditionElsewhere(dependency, { services, leftOut, others }, problems);
      if (condition === undefined) continue;
      // If depends_on and links name the same service, the stricter condition applies.
      if (condition !== 'started' || !found.has(dependency.service)) {
        found.set(dependency.service, { service: dependency.service, condition });
      }
    }
    resolved.set(name, [...found.values()]);
  }
  reportCycles(services, problems);
  return resolved;
}

function checkedCondition(
  { service, condition, required, at }: LocatedDependency,
  services: ReadonlyMap<string, Pick<Dependent, 'hasHealthcheck'>>,
  leftOut: ReadonlySet<string>,
  problems: Problems,
): Dependency['condition'] | undefined {
  const other = services.get(service);
  if (other === undefined) {
    if (!required) return undefined;
    if (leftOut.has(service)) {
      return problems.error(at, `none of the profiles of ${quoted(service)} is enabled: name one in COMPOSE_PROFILES`);
    }
    const meant = nearest(service, services.keys(), problems);
    const hint = meant === undefined ? 'add it, or remove this' : `did you mean ${quoted(meant)}?`;
    return problems.error(at, `there is no service ${quoted(service)}: ${hint}`);
  }
  if (condition !== 'healthy' || other.hasHealthcheck) return condition;
  problems.warn(
    at,
    `${quoted(service)} has no healthcheck in this file, and that of its image is unknown here: dependents wait only until it runs; write the test here`,
  );
  return 'started';
}

/** Returns the condition of a dependency that is not a service of this file. */
function conditionElsewhere(
  dependency: LocatedDependency,
  {
    services,
    leftOut,
    others,
  }: { services: ReadonlyMap<string, Dependent>; leftOut: ReadonlySet<string>; others: OtherServices },
  problems: Problems,
): Dependency['condition'] | undefined {
  const { service, condition, at } = dependency;
  const other = others.services.get(service);
  // Apart from an environment nothing is known about the services of other repositories.
  if (other === undefined && others.areUnknown) return undefined;
  if (other === undefined || condition !== 'completed' || other.runsOnce) {
    const known = new Map<string, Pick<Dependent, 'hasHealthcheck'>>([...others.services, ...services]);
    return checkedCondition(dependency, known, leftOut, problems);
  }
  return problems.error(
    at,
    `${quoted(service)} of the included repository does not end, so nothing can wait for its completion: use service_started or service_healthy`,
  );
}

/** Reports each cycle once, at the dependency that closes it. */
function reportCycles(services: ReadonlyMap<string, Dependent>, problems: Problems): void {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): void => {
    if (done.has(name)) return;
    way.push(name);
    for (const { service, at } of services.get(name)?.dependsOn ?? []) {
      const start = way.indexOf(service);
      if (start === -1) visit(service);
      else
        problems.error(
          at,
          `the services wait for each other (${[...way.slice(start), service].join(' → ')}): remove one dependency`,
        );
    }
    way.pop();
    done.add(name);
  };
  for (const name of services.keys()) visit(name);
}
