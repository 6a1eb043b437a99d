import { environmentFacts } from '../../crds/environment-facts.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { memoryFiles } from '../../service-file/memory-files.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../../service-file/own-variables.ts';
import { readServiceFile, type ServiceFileSettings } from '../../service-file/parse.ts';
import { type Problem, Problems, SETTINGS } from '../../service-file/problems.ts';
import type { Service } from '../../service-file/schema.ts';
import type { Variable } from '../../service-file/variables.ts';
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
  /** Whether to check only the YAML syntax, because the rest depends on files of the repository. */
  syntaxOnly?: boolean;
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
  if (input.syntaxOnly === true) return { services: [], warnings: [], errors: syntaxErrors(serviceFile) };
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

function syntaxErrors(text: string): Problem[] {
  const problems = new Problems();
  const tree = parseYaml(text, { file: SETTINGS, folder: '' }, problems);
  if (tree !== undefined && tree.kind !== 'map')
    problems.error(tree, 'a service file must be a map of keys: start with "services:"');
  return problems.errors;
}
