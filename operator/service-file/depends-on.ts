import { dependencyKeys } from './keys.ts';
import { nearest } from './nearest.ts';
import type { Place, Problems } from './problems.ts';
import { quoted } from './problems.ts';
import { kindOf, optional, readBoolean, readFields, readName } from './read.ts';
import type { Dependency, Healthcheck } from './schema.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

/** A dependency and where it stands. */
export type PlacedDependency = Dependency & { at: Place };

/** `depends_on`: a list of services, or a map with a condition for each. Sorted by service. */
export function readDependsOn(node: YamlNode, problems: Problems): PlacedDependency[] | undefined {
  if (node.kind === 'scalar') {
    return problems.error(node, `must be a list of services or a map with conditions, this is ${kindOf(node)}`);
  }
  const found = new Map<string, PlacedDependency>();
  const dependencies =
    node.kind === 'map'
      ? node.entries.map((entry) => readEntry(entry, problems))
      : node.items.map((item) => {
          const service = readName(item, problems);
          return service === undefined ? undefined : { service, condition: 'started' as const, at: item };
        });
  for (const dependency of dependencies) {
    if (dependency === undefined) continue;
    if (found.has(dependency.service)) problems.error(dependency.at, 'is there twice: remove one');
    else found.set(dependency.service, dependency);
  }
  return [...found.values()].sort((a, b) => (a.service < b.service ? -1 : 1));
}

function readEntry({ key, at, value }: YamlEntry, problems: Problems): PlacedDependency | undefined {
  const fields = readFields(value, dependencyKeys, problems);
  if (fields === undefined) return undefined;
  if (optional(fields, 'required', readBoolean, problems) === false) {
    problems.error(
      fields.get('required')?.at ?? at,
      'only "true" is supported yet: every service of the file is started',
    );
  }
  if (optional(fields, 'restart', readBoolean, problems) === true) {
    problems.error(fields.get('restart')?.at ?? at, 'not supported yet: a service is not restarted with another one');
  }
  const conditionNode = fields.get('condition')?.value;
  if (conditionNode === undefined)
    return problems.error(at, 'has no condition: write service_started or service_healthy');
  const condition = readName(conditionNode, problems);
  if (condition === undefined) return undefined;
  if (condition === 'service_started') return { service: key, condition: 'started', at };
  if (condition === 'service_healthy') return { service: key, condition: 'healthy', at };
  return problems.error(
    conditionNode,
    condition === 'service_completed_successfully'
      ? 'service_completed_successfully is not supported yet: use service_started or service_healthy'
      : `${quoted(condition)} is no condition: use service_started or service_healthy`,
  );
}

interface Dependent {
  name: string;
  dependsOn: readonly PlacedDependency[];
  /** Undefined when it has errors. */
  healthcheck: Healthcheck | 'none' | undefined;
}

/** What only shows with all services known: unknown names, cycles, and waiting for a health that nothing tells. */
export function checkDependencies(services: ReadonlyMap<string, Dependent>, problems: Problems): void {
  for (const { dependsOn } of services.values()) {
    for (const { service, condition, at } of dependsOn) {
      const other = services.get(service);
      if (other === undefined) {
        const meant = nearest(service, services.keys());
        const hint = meant === undefined ? 'add it, or remove this' : `did you mean ${quoted(meant)}?`;
        problems.error(at, `there is no service ${quoted(service)}: ${hint}`);
      } else if (condition === 'healthy' && other.healthcheck === 'none') {
        problems.error(
          at,
          `${quoted(service)} has no healthcheck in this file (one in its image is not seen): add one, or use service_started`,
        );
      }
    }
  }
  tellCycles(services, problems);
}

/** Tells each cycle once, at the dependency that closes it. */
function tellCycles(services: ReadonlyMap<string, Dependent>, problems: Problems): void {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): void => {
    if (done.has(name)) return;
    way.push(name);
    for (const { service, at } of services.get(name)?.dependsOn ?? []) {
      const start = way.indexOf(service);
      if (start === -1) visit(service);
      else problems.error(at, `the services wait for each other: ${[...way.slice(start), service].join(' → ')}`);
    }
    way.pop();
    done.add(name);
  };
  for (const name of services.keys()) visit(name);
}
