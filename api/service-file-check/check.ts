import { environmentFacts } from '../../crds/environment-facts.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { memoryFiles } from '../../service-file/memory-files.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../../service-file/own-variables.ts';
import { readServiceFile, type ServiceFileSettings } from '../../service-file/parse.ts';
import { type Problem, Problems, SETTINGS } from '../../service-file/problems.ts';
import { serviceKeys } from '../../service-file/read/keys/service-keys.ts';
import { topLevelKeys } from '../../service-file/read/keys/top-level-keys.ts';
import { nearest } from '../../service-file/read/nearest.ts';
import { readFields } from '../../service-file/read/read.ts';
import type { Service } from '../../service-file/schema.ts';
import type { Variable } from '../../service-file/variables.ts';
import type { YamlMap } from '../../service-file/yaml/yaml-node.ts';
import { parseYaml } from '../../service-file/yaml/yaml-tree.ts';

export interface CheckInput {
  mode: ServiceFileSettings['mode'];
  /** The file to check: that of the repository (mode `repo`) or that of the settings (`panel`, `both`). */
  serviceFile: string;
  /** Other files of the repository, in base64 by path, which the service file includes, mounts or reads. */
  files: Record<string, string>;
  variables: [name: string, Variable][];
  /** The file is read as for the branch `main` of this repository; by default of an example. */
  repository?: CheckedRepository;
  /**
   * Whether to check only the syntax, because the file is merged over one that is not known here. With `services`, those
   * that run, keys are checked too, and other services are reported as probably mistyped.
   */
  patch?: { services?: readonly string[] };
}

/** What the variables that Coppice sets are made of. */
export interface CheckedRepository {
  id: ResourceId;
  /** URL below which environments are served. */
  environmentsUrl: string;
  /** Address of the registry of built images. */
  registry: string;
}

/** The result, as `npm run check` prints it; `services` is empty when there are errors. */
export interface CheckResult {
  services: Service[];
  warnings: Problem[];
  errors: Problem[];
}

/** Path of the checked file if it replaces the repository's. */
const path = 'compose.yaml';

/** Reads a service file as the operator does. May use seconds of CPU time: do not call it on the main thread. */
export async function checkServiceFile(input: CheckInput): Promise<CheckResult> {
  const { mode, serviceFile, files, variables } = input;
  if (input.patch) return checkPatch(serviceFile, input.patch.services);
  const contents = Object.entries(files).map(([path, content]) => [path, Buffer.from(content, 'base64')] as const);
  if (mode === 'repo') contents.push([path, Buffer.from(serviceFile)]);
  const result = await readServiceFile({
    files: memoryFiles(Object.fromEntries(contents)),
    variables: new Map(variables),
    own: ownVariables(input.repository),
    ...(mode === 'repo' ? { path, settings: { mode } } : { settings: { mode, content: serviceFile } }),
  });
  return {
    services: result.serviceFile?.services ?? [],
    warnings: result.warnings,
    errors: result.errors,
  };
}

function ownVariables(repository: CheckedRepository | undefined): OwnVariables {
  if (!repository) return new OwnVariables(EXAMPLE_FACTS);
  const { ref, commit, build } = EXAMPLE_FACTS;
  const { id, environmentsUrl, registry } = repository;
  const environment = { id: { ...id, name: `${id.name}-main` }, repository: id.name, ref };
  return new OwnVariables({ ...environmentFacts(new URL(environmentsUrl), environment), registry, commit, build });
}

function checkPatch(text: string, known: readonly string[] | undefined): CheckResult {
  const problems = new Problems();
  const tree = parseYaml(text, { file: SETTINGS, folder: '' }, problems);
  if (tree !== undefined && tree.kind !== 'map')
    problems.error(tree, 'a service file must be a map of keys: start with "services:"');
  if (known && tree?.kind === 'map') checkKeys(tree, known, problems);
  return { services: [], warnings: problems.warnings, errors: problems.errors };
}

function checkKeys(tree: YamlMap, known: readonly string[], problems: Problems): void {
  const services = readFields(tree, topLevelKeys, problems)?.get('services')?.value;
  if (services?.kind !== 'map') return;
  for (const { key, at, value } of services.entries) {
    // `!reset null` removes a service.
    if (value.kind !== 'map') continue;
    const fields = readFields(value, serviceKeys, problems);
    const isWhole = ['image', 'build', 'extends'].some((field) => fields?.has(field) === true);
    if (isWhole || known.length === 0 || known.includes(key)) continue;
    const meant = nearest(key, known, problems);
    const hint = meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`;
    problems.warn(at, `no service ${JSON.stringify(key)} runs, and this one has no image or build${hint}`);
  }
}
