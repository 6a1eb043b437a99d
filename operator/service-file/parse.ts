import { checkDependencies } from './depends-on.ts';
import { topLevelKeys } from './keys.ts';
import { type Place, type Problem, Problems } from './problems.ts';
import { planPublicRoutes } from './public-routes.ts';
import { kindOf, readFields } from './read.ts';
import type { ServiceFile } from './schema.ts';
import { type PlacedService, readService } from './service.ts';
import { parseYaml } from './yaml-tree.ts';

export interface ParsedServiceFile {
  /** Undefined exactly when there are errors. */
  serviceFile: ServiceFile | undefined;
  warnings: Problem[];
  errors: Problem[];
}

const MAX_SERVICES = 100;

/**
 * Reads a service file (docs/service-file.md). Every key is supported, ignored with a warning or an error; all errors
 * are told at once, each with its path, line and column. Never throws, whatever the text.
 */
export function parseServiceFile(text: string): ParsedServiceFile {
  const problems = new Problems();
  const serviceFile = read(text, problems);
  return {
    serviceFile: problems.hasErrors ? undefined : serviceFile,
    warnings: problems.warnings,
    errors: problems.errors,
  };
}

function read(text: string, problems: Problems): ServiceFile | undefined {
  const root = parseYaml(text, problems);
  const fields = root === undefined ? undefined : readFields(root, topLevelKeys, problems);
  if (root === undefined || fields === undefined) return undefined;
  const services = fields.get('services')?.value;
  if (services === undefined) return problems.error(root, 'has no services: add "services:" with at least one');
  if (services.kind !== 'map')
    return problems.error(services, `must be a map of services, this is ${kindOf(services)}`);
  if (services.entries.length === 0) return problems.error(services, 'is empty: add at least one service');
  if (services.entries.length > MAX_SERVICES) return problems.error(services, `more than ${MAX_SERVICES} services`);
  const placed = services.entries
    .flatMap((entry) => readService(entry, problems) ?? [])
    .sort((a, b) => (a.service.name < b.service.name ? -1 : 1));
  if (placed.length < services.entries.length) return undefined; // told, and the checks below would tell it again
  return combine(placed, services, problems);
}

/** Checks the services against each other, and finds what is public. */
function combine(placed: readonly PlacedService[], at: Place, problems: Problems): ServiceFile {
  const dependents = placed.map(({ service: { name }, healthcheck, dependsOn }) => ({ name, healthcheck, dependsOn }));
  checkDependencies(new Map(dependents.map((dependent) => [dependent.name, dependent])), problems);
  const publicRoutes = planPublicRoutes(
    placed.map(({ service: { name, ports }, published, named, at: place }) => ({
      at: place,
      name,
      ports,
      published,
      named,
    })),
    at,
    problems,
  );
  return { services: placed.map(({ service }) => service), publicRoutes };
}
