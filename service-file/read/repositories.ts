import type { Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import { type IncludedRepository, MAX_INCLUDED } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { includedRepositoryKeys } from './keys/x-coppice-keys.ts';
import { readAlias } from './public-routes.ts';
import { optional, readFields, readList, readName } from './read.ts';

/** Reads the repositories that the file includes. Whether they exist is known only in an environment. */
export function readRepositories(node: YamlNode, problems: Problems): IncludedRepository[] | undefined {
  const items = readList(node, problems);
  if (items !== undefined && items.length > MAX_INCLUDED)
    return problems.error(node, tooMany(MAX_INCLUDED, 'repositories'));
  const names = new Set<string>();
  return items?.flatMap((item) => {
    const repository = readRepository(item, problems);
    if (repository === undefined) return [];
    if (names.has(repository.name))
      problems.error(item, `the repository ${quoted(repository.name)} is listed twice: remove one`);
    names.add(repository.name);
    return [repository];
  });
}

function readRepository(node: YamlNode, problems: Problems): IncludedRepository | undefined {
  const fields = readFields(node, includedRepositoryKeys, problems);
  if (fields === undefined) return undefined;
  if (!fields.has('name')) return problems.error(node, 'has no name: name a repository of the group');
  const name = optional(fields, 'name', readRepositoryName, problems);
  const fallback = optional(fields, 'fallback', readBranch, problems);
  const alias = optional(fields, 'alias', readAlias, problems);
  if (name === undefined) return undefined;
  return { name, ...(fallback !== undefined && { fallback }), ...(alias !== undefined && { alias }) };
}

/** Reads the name of a Repository, with the same pattern as in crds/ids.ts: other groups cannot be named. */
function readRepositoryName(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  return problems.error(
    node,
    `${quoted(text)} is not the name of a repository of this group: write it as in the last part of its id`,
  );
}

/** What `git check-ref-format` refuses, and a leading `-`, as in crds/git-ref.ts. */
const notABranch = /^-|^\/|\/$|\.$|\.\.|\/\/|@\{|\\|^@$|[\0-\x20\x7f~^:?*[]|(^|\/)\.|\.lock(\/|$)|^refs\//;

function readBranch(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined || (text.length <= 200 && text.isWellFormed() && !notABranch.test(text))) return text;
  return problems.error(node, `${quoted(text)} is not the name of a branch: write it like main`);
}
