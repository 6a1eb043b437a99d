import { isDeepStrictEqual } from 'node:util';
import { type Problems, quoted } from '../problems.ts';
import { includeKeys } from '../read/keys/top-level-keys.ts';
import { readFields } from '../read/read.ts';
import { folderOf } from '../repository-path.ts';
import { type YamlEntry, type YamlMap, type YamlNode, valueAt } from '../yaml/yaml-node.ts';
import { merge } from './merge.ts';
import type { ModelContext, ModelLoader } from './model-loader.ts';

/** The top-level keys that an included file contributes. */
const resources = new Set(['services', 'volumes', 'networks', 'secrets', 'configs', 'models']);

/** Loads the models that a file includes, each separately, in the file's order. */
export async function readIncludes(file: YamlMap, loader: ModelLoader, context: ModelContext): Promise<YamlMap[]> {
  const include = valueAt(file, 'include');
  if (include === undefined || (include.kind === 'scalar' && include.value === null)) return [];
  if (include.kind !== 'list') {
    loader.problems.error(include, 'must be a list of files');
    return [];
  }
  const models: YamlMap[] = [];
  for (const item of include.items) {
    const model = await readInclude(item, loader, context);
    if (model !== undefined) models.push(model);
  }
  return models;
}

/** Reads a path, or a map of `path` (one or several, merged in order), `project_directory` and `env_file`. */
async function readInclude(item: YamlNode, loader: ModelLoader, context: ModelContext): Promise<YamlMap | undefined> {
  const { problems, sources: files } = loader;
  if (item.kind === 'list') return problems.error(item, 'must be the path of a file, or a map with a path');
  if (item.kind === 'map') readFields(item, includeKeys, problems);
  const pathNode = item.kind === 'scalar' ? item : valueAt(item, 'path');
  if (pathNode === undefined) {
    // A key reported as unknown may be a misspelt `path`.
    return problems.hasErrors ? undefined : problems.error(item, 'has no path: name the file to include');
  }
  const paths = pathsOf(pathNode, loader);
  const [first] = paths;
  if (first === undefined) return undefined;
  const cycle = paths.find(({ path }) => context.includedBy.includes(path));
  if (cycle !== undefined) {
    const chain = [...context.includedBy.slice(context.includedBy.indexOf(cycle.path)), cycle.path];
    return problems.error(cycle.node, `the files include each other (${chain.join(' → ')}): remove one include`);
  }
  const projectNode = valueAt(item, 'project_directory');
  const folder = projectNode === undefined ? folderOf(first.path) : files.path(projectNode);
  if (folder === undefined) return undefined;
  const envFile = valueAt(item, 'env_file');
  const variables =
    envFile === undefined
      ? await loader.withDotenv(folder, context.variables)
      : await files.withEnvFiles(
          pathsOf(envFile, loader).map(({ path }) => path),
          context.variables,
          envFile,
        );
  const texts: { text: string; origin: { file: string; folder: string } }[] = [];
  for (const { path, node } of paths) {
    const text = await files.yaml(path, node);
    if (text === undefined) return undefined;
    texts.push({ text, origin: { file: path, folder } });
  }
  return loader.model(texts, { ...context, variables });
}

function pathsOf(node: YamlNode, { sources }: ModelLoader): { path: string; node: YamlNode }[] {
  return (node.kind === 'list' ? node.items : [node]).flatMap((item) => {
    const path = sources.path(item);
    return path === undefined ? [] : [{ path, node: item }];
  });
}

/**
 * Returns a file with the resources of an included one. A conflicting resource is merged, with the file's own taking
 * precedence, as in compose-go, and the warning that the specification requires.
 */
export function withIncluded(file: YamlMap, included: YamlMap, problems: Problems): YamlMap {
  return included.entries
    .filter(({ key, value }) => resources.has(key) && value.kind === 'map')
    .reduce((tree, entry) => withResources(tree, entry, problems), file);
}

function withResources(file: YamlMap, { key: kind, at, value: included }: YamlEntry, problems: Problems): YamlMap {
  const own = valueAt(file, kind);
  if (included.kind !== 'map' || own?.tag !== undefined) return file;
  const entries = new Map(own?.kind === 'map' ? own.entries.map((entry) => [entry.key, entry]) : []);
  for (const entry of included.entries) {
    const conflict = entries.get(entry.key);
    if (conflict === undefined) entries.set(entry.key, entry);
    else if (!isSame(entry.value, conflict.value)) {
      reportConflict(conflict, entry, problems);
      const value = merge(entry.value, conflict.value, [kind, entry.key], problems);
      entries.set(entry.key, { ...conflict, value });
    }
  }
  const value: YamlMap = { ...(own ?? included), kind: 'map', entries: [...entries.values()] };
  return { ...file, entries: [...file.entries.filter(({ key }) => key !== kind), { key: kind, at, value }] };
}

function reportConflict({ key, at }: YamlEntry, { at: other }: YamlEntry, problems: Problems): void {
  problems.warn(
    at,
    `${quoted(key)} is in the included ${other.file}, too, on line ${other.line}: the value here is merged over it`,
  );
}

function isSame(a: YamlNode, b: YamlNode): boolean {
  return isDeepStrictEqual(dataOf(a), dataOf(b));
}

/** Returns a node's data, regardless of its position. */
function dataOf(node: YamlNode): unknown {
  if (node.kind === 'scalar') return [node.value, node.source, node.tag, node.folder];
  if (node.kind === 'list') return ['list', node.tag, node.items.map(dataOf)];
  return new Map(node.entries.map(({ key, value }) => [key, [value.tag, dataOf(value)]]));
}
