import { memoryFiles } from '../../service-file/memory-files.ts';
import { readServiceFile, type ServiceFileSettings } from '../../service-file/parse.ts';
import { type Problem, Problems, SETTINGS } from '../../service-file/problems.ts';
import type { Service } from '../../service-file/schema.ts';
import type { Variable } from '../../service-file/variables.ts';
import { parseYaml } from '../../service-file/yaml/yaml-tree.ts';

export interface CheckInput {
  mode: ServiceFileSettings['mode'];
  /** The file that is checked: the repository's (`repo`), or the settings' (`panel`, `both`). */
  serviceFile: string;
  /** What else the repository holds, in base64 by path: files that the service file includes, mounts or reads. */
  files: Record<string, string>;
  variables: [name: string, Variable][];
  /** Whether it is YAML at all, for what cannot be read further without the repository. */
  syntaxOnly?: boolean;
}

/** The same as `npm run check` prints; `services` is empty when there are errors. */
export interface CheckResult {
  services: Service[];
  warnings: Problem[];
  errors: Problem[];
}

/** What the file that is checked is called, where it stands for the repository's. */
const path = 'compose.yaml';

/** Reads a service file as the operator would. It may take seconds of the processor: not for the thread that answers. */
export async function checkServiceFile(input: CheckInput): Promise<CheckResult> {
  const { mode, serviceFile, files, variables } = input;
  if (input.syntaxOnly === true) return { services: [], warnings: [], errors: syntaxErrors(serviceFile) };
  const contents = Object.entries(files).map(([path, content]) => [path, Buffer.from(content, 'base64')] as const);
  if (mode === 'repo') contents.push([path, Buffer.from(serviceFile)]);
  const result = await readServiceFile({
    files: memoryFiles(Object.fromEntries(contents)),
    variables: new Map(variables),
    ...(mode === 'repo' ? { path, settings: { mode } } : { settings: { mode, content: serviceFile } }),
  });
  return {
    services: result.serviceFile?.services ?? [],
    warnings: result.warnings,
    errors: result.errors,
  };
}

function syntaxErrors(text: string): Problem[] {
  const problems = new Problems();
  const tree = parseYaml(text, { file: SETTINGS, folder: '' }, problems);
  if (tree !== undefined && tree.kind !== 'map') problems.error(tree, 'a service file must be a map of keys');
  return problems.errors;
}
