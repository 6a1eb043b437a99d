import { DotenvError, parseDotenv } from '../load/dotenv.ts';
import type { Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { readFile } from './contents.ts';
import type { ReadContext } from './context.ts';
import type { FileScope } from './file-scope.ts';
import { envFileKeys } from './keys/service-keys.ts';
import { type Fields, optional, readBoolean, readFields, readListOrOne, readName } from './read.ts';
import { readRepositoryPath } from '../repository-path.ts';
import { isVariableName, mayBeSet, readVariables, toRecord } from './variables.ts';

/**
 * Returns the environment of a service's containers: the files of `env_file`, of which later ones override earlier
 * ones, overridden by `environment`.
 */
export async function readEnvironment(fields: Fields, scope: FileScope): Promise<Record<string, string>> {
  const { problems } = scope;
  const found = new Map<string, string>();
  const files = fields.get('env_file')?.value;
  const items = (files?.kind === 'map' ? [files] : files && readListOrOne(files, problems)) ?? [];
  if (files !== undefined && items.length > maxFiles) problems.error(files, tooMany(maxFiles, 'env files'));
  for (const item of items.slice(0, maxFiles)) {
    for (const [name, value] of (await readEnvFile(item, scope)) ?? []) found.set(name, value);
  }
  const own = optional(fields, 'environment', (node) => readVariables(node, 'container', scope), problems);
  for (const [name, value] of own ?? []) found.set(name, value);
  const entry = fields.get('environment') ?? fields.get('env_file');
  if (entry !== undefined && found.size > maxVariables) problems.error(entry.at, tooMany(maxVariables, 'variables'));
  return toRecord(found);
}

/** Limit for one service. */
const maxFiles = 20;
const maxVariables = 1000;
/** Limit for all services together. */
const maxFilesInAll = 50;
const maxKib = 64;

interface EnvFile {
  node: YamlNode;
  required: boolean;
  /** Whether lines are literal, without quotes and variables. */
  raw: boolean;
}

async function readEnvFile(item: YamlNode, scope: FileScope): Promise<ReadonlyMap<string, string> | undefined> {
  const { problems, files, envFiles } = scope;
  const file = item.kind === 'map' ? readLongForm(item, problems) : { node: item, required: true, raw: false };
  if (file === undefined) return undefined;
  const text = readName(file.node, problems);
  const path = text === undefined ? undefined : readRepositoryPath(text, file.node.folder, file.node, problems);
  if (path === undefined || (!file.required && files.kindOf(path) === undefined)) return undefined;
  const key = `${file.raw ? 'raw' : 'dotenv'}:${path}`;
  const known = envFiles.get(key);
  if (known !== undefined) return known;
  if (envFiles.size >= maxFilesInAll) return problems.error(file.node, tooMany(maxFilesInAll, 'env files'));
  const content = await readFile(path, file.node, scope);
  if (content === undefined) return undefined;
  if (content.length > maxKib * 1024) return problems.error(file.node, `is larger than ${maxKib} KiB: shorten it`);
  const found = parse(content.toString('utf8'), path, file, scope);
  // Problems in a file are reported once.
  envFiles.set(key, found ?? new Map());
  return found;
}

function readLongForm(item: YamlNode, problems: Problems): EnvFile | undefined {
  const fields = readFields(item, envFileKeys, problems);
  if (fields === undefined) return undefined;
  const node = fields.get('path')?.value;
  const format = optional(fields, 'format', readName, problems);
  const required = optional(fields, 'required', readBoolean, problems) ?? true;
  if (node === undefined) return problems.error(item, 'has no path: name a file of the repository');
  if (format === undefined || format === 'raw') return { node, required, raw: format === 'raw' };
  return problems.error(item, `${quoted(format)} is not a format of an env file: leave it out, or use raw`);
}

function parse(
  text: string,
  path: string,
  { node, raw }: EnvFile,
  context: ReadContext,
): Map<string, string> | undefined {
  const { problems, variables } = context;
  const found = new Map<string, string>();
  const lineOf = (line: number) => ({ file: path, path: '', line, column: 1 });
  const warn = (line: number, message: string) => problems.warn(lineOf(line), message);
  try {
    for (const [name, { value, visibility }] of raw ? parseRaw(text) : parseDotenv(text, variables, warn)) {
      const what = `${quoted(name)} of ${quoted(path)}`;
      if (!isVariableName(name))
        problems.error(node, `${what} is not a name for a variable: use letters, digits and _`);
      else if (value.includes('\0')) problems.error(node, `${what} contains a NUL character: remove it`);
      else if (visibility === 'buildtime')
        problems.error(node, `${what} uses a variable that is for builds only: make it visible always, or remove it`);
      else if (mayBeSet(name, value, node, context)) found.set(name, value);
    }
  } catch (error) {
    if (!(error instanceof DotenvError)) throw error;
    return problems.error(lineOf(error.line), error.message);
  }
  return found;
}

function parseRaw(text: string): Map<string, { value: string; visibility: 'always' }> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const equals = line.indexOf('=');
      const name = equals === -1 ? line : line.slice(0, equals);
      return [name.trim(), { value: equals === -1 ? '' : line.slice(equals + 1), visibility: 'always' as const }];
    }),
  );
}
