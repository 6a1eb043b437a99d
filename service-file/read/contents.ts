import { FileUnreadableError, notAFile } from '../files.ts';
import { unsetAdvice } from '../own-variables.ts';
import type { SourcePosition } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import type { KeyTable } from './keys/key-table.ts';
import { emptyAsMap, optional, readEntries, readFields, readName, readText } from './read.ts';
import { readRepositoryPath } from '../repository-path.ts';
import { type Reader, variableValue } from './variables.ts';

/** Where the contents of a config or secret come from. */
export type DeclaredContent = { at: SourcePosition } & (
  | { kind: 'file'; path: string; node: YamlNode }
  | { kind: 'content'; text: string; node: YamlNode }
  | { kind: 'variable'; name: string; node: YamlNode }
  /** An error was reported. */
  | { kind: 'invalid' }
);

/** Reads the top-level `configs` or `secrets`. Contents of unused ones are not read. */
export function readContents(
  node: YamlNode | undefined,
  table: KeyTable,
  context: ReadContext,
): ReadonlyMap<string, DeclaredContent> {
  const entries = node === undefined ? [] : (readEntries(node, context.problems) ?? []);
  return new Map(entries.map(({ key, at, value }) => [key, readContent(value, at, table, context)]));
}

function readContent(value: YamlNode, at: SourcePosition, table: KeyTable, { problems }: ReadContext): DeclaredContent {
  const invalid: DeclaredContent = { kind: 'invalid', at };
  const fields = readFields(emptyAsMap(value), table, problems);
  if (fields === undefined) return invalid;
  const sources = ['file', 'content', 'environment'].flatMap((key) => fields.get(key) ?? []);
  const [source, second] = sources;
  if (second !== undefined) {
    problems.error(second.at, `beside ${quoted(source?.key ?? '')}: only one can set the content, remove the others`);
    return invalid;
  }
  if (source === undefined) {
    // An external one is reported as such, not as one without content.
    const isRefused =
      value.kind === 'map' && value.entries.some(({ key }) => table.keys.get(key)?.support === 'refused');
    if (!isRefused) problems.error(at, `has no content: add one of ${sourceKeys(table)}`);
    return invalid;
  }
  const { key, value: node } = source;
  if (key === 'content') {
    const text = optional(fields, key, readText, problems);
    return text === undefined ? invalid : { kind: 'content', text, node, at };
  }
  const name = readName(node, problems);
  if (name === undefined) return invalid;
  if (key === 'environment') return { kind: 'variable', name, node, at };
  const path = readRepositoryPath(name, node.folder, node, problems);
  return path === undefined ? invalid : { kind: 'file', path, node, at };
}

function sourceKeys(table: KeyTable): string {
  return ['file', 'content', 'environment'].filter((key) => table.keys.get(key)?.support === 'supported').join(', ');
}

/** Returns the contents; reports, at `at` or at the declaration, and returns undefined if there are none. */
export async function contentOf(
  declared: DeclaredContent,
  reader: Reader,
  at: SourcePosition,
  context: ReadContext,
): Promise<Buffer | undefined> {
  if (declared.kind === 'invalid') return undefined;
  if (declared.kind === 'content') return Buffer.from(declared.text);
  if (declared.kind === 'file') return readFile(declared.path, declared.node, context);
  if (!context.variables.has(declared.name)) {
    const advice = unsetAdvice(declared.name, 'set it', context.problems);
    context.problems.warn(declared.node, `the variable ${quoted(declared.name)} is not set, so it is empty: ${advice}`);
    return Buffer.alloc(0);
  }
  const value = variableValue(declared.name, reader, at, context);
  return value === undefined ? undefined : Buffer.from(value);
}

/** Reads a file of the repository; reports at `node` and returns undefined if it is not a file. */
export async function readFile(
  path: string,
  node: YamlNode,
  { files, problems }: ReadContext,
): Promise<Buffer | undefined> {
  const kind = files.kindOf(path);
  if (kind !== 'file') {
    return problems.error(node, notAFile(path, kind));
  }
  try {
    return await files.read(path);
  } catch (error) {
    if (error instanceof FileUnreadableError) return problems.error(node, error.message);
    throw error;
  }
}
