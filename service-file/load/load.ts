import type { RepositoryFiles } from '../files.ts';
import { OVERRIDES, type SourcePosition, type Problems, SETTINGS } from '../problems.ts';
import type { VariableLookup } from '../variables.ts';
import type { YamlMap } from '../yaml/yaml-node.ts';
import { parseYaml, startOf, type YamlOrigin } from '../yaml/yaml-tree.ts';
import { Budget } from './budget.ts';
import { extendServices } from './extends.ts';
import { readIncludes, withIncluded } from './include.ts';
import { TreeInterpolator } from './interpolate-tree.ts';
import { merge, withoutTags } from './merge.ts';
import type { ModelContext, ModelLoader, ModelSource } from './model-loader.ts';
import { SourceFiles } from './source-files.ts';

export interface LoadRequest {
  files: RepositoryFiles;
  variables: VariableLookup;
  /** Path of the service file in the repository, if it is read from there. */
  path?: string;
  /** YAML of the service of a repository that has only a Dockerfile. */
  dockerfile?: string;
  /** YAML of the repository's settings, merged over the file. */
  settings?: string;
  /** YAML of one environment, merged over both. */
  overrides?: string;
}

/** The merged tree with variables filled in, and the variables that were used. */
export interface Loaded {
  tree: YamlMap;
  /** Coppice's variables, which override those of the root's `.env`. */
  variables: VariableLookup;
}

/**
 * Loads the texts into one tree, in Compose's order: fills in each file's variables, adds what it includes, extends its
 * services, and merges it over the previous files. Returns undefined only if there are errors.
 */
export async function loadServiceFile(request: LoadRequest, problems: Problems): Promise<Loaded | undefined> {
  const loader = new Loader(request.files, problems);
  const variables = await loader.withDotenv('', request.variables);
  const sources: ModelSource[] = [];
  if (request.path !== undefined) {
    const text = await loader.sources.yaml(request.path, startOf(request.path));
    if (text !== undefined) sources.push({ text, origin: { file: request.path, folder: '' } });
  }
  if (request.dockerfile !== undefined) {
    sources.push({ text: request.dockerfile, origin: { file: 'Dockerfile', folder: '' } });
  }
  if (request.settings !== undefined) {
    sources.push({ text: request.settings, origin: { file: SETTINGS, folder: '' } });
  }
  if (request.overrides !== undefined) {
    sources.push({ text: request.overrides, origin: { file: OVERRIDES, folder: '' } });
  }
  const tree = await loader.model(sources, { variables, includedBy: [] });
  return tree === undefined ? undefined : { tree, variables };
}

class Loader implements ModelLoader {
  readonly sources: SourceFiles;
  readonly problems: Problems;
  readonly budget: Budget;
  /** Variables that were already reported as not set. */
  readonly #unset = new Set<string>();

  constructor(files: RepositoryFiles, problems: Problems) {
    this.problems = problems;
    this.budget = new Budget(problems);
    this.sources = new SourceFiles(files, this.budget, problems);
  }

  /** Returns `variables` with those of a folder's `.env`, if there is one, which they override. */
  async withDotenv(folder: string, variables: VariableLookup): Promise<VariableLookup> {
    const path = folder === '' ? '.env' : `${folder}/.env`;
    return this.sources.has(path) ? this.sources.withEnvFiles([path], variables, startOf(path)) : variables;
  }

  /** Merges files in order, with what they include and extend. */
  async model(sources: readonly ModelSource[], context: ModelContext): Promise<YamlMap | undefined> {
    let model: YamlMap | undefined;
    for (const { text, origin } of sources) {
      const file = this.parse(text, origin, context.variables);
      if (file === undefined) return undefined;
      const included = await readIncludes(file, this, { ...context, includedBy: [...context.includedBy, origin.file] });
      const whole = included.reduce((over, other) => withIncluded(over, other, this.problems), file);
      const extended = await extendServices(whole, model, this, context.variables);
      const merged = model === undefined ? extended : merge(model, extended, [], this.problems);
      const plain = withoutTags(merged);
      if (plain?.kind !== 'map' || this.problems.hasErrors || !this.budget.takeMerged(plain)) return undefined;
      model = { ...plain, entries: plain.entries.filter(({ key }) => key !== 'include') };
    }
    return model;
  }

  /** Loads a file of the repository as a tree whose relative paths start from `folder`. */
  async file(
    path: string,
    folder: string,
    variables: VariableLookup,
    at: SourcePosition,
  ): Promise<YamlMap | undefined> {
    const text = await this.sources.yaml(path, at);
    return text === undefined ? undefined : this.parse(text, { file: path, folder }, variables);
  }

  /** Parses one file and fills in variables; returns undefined only if there are errors. */
  parse(text: string, origin: YamlOrigin, variables: VariableLookup): YamlMap | undefined {
    const tree = parseYaml(text, origin, this.problems, this.budget.yaml);
    if (tree === undefined) return undefined;
    if (tree.kind !== 'map') {
      return this.problems.error(tree, 'a service file must be a map of keys: start with "services:"');
    }
    const filled = new TreeInterpolator(variables, this.budget, this.problems, this.#unset).fill(tree);
    return filled.kind === 'map' ? filled : undefined;
  }
}
