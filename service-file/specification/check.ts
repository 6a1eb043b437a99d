import type { z } from 'zod';
import { type Problems, quoted } from '../problems.ts';
import type { YamlEntry, YamlNode } from '../yaml/yaml-node.ts';
import { serviceFile } from './service-file.ts';

/**
 * Checks a merged tree against the schema of the whole Compose Specification: every key must be known, and every value
 * of the right kind, including those that Coppice ignores or refuses.
 */
export function checkSpecification(tree: YamlNode, problems: Problems): void {
  const { error } = serviceFile.safeParse(dataOf(tree));
  for (const issue of (error?.issues ?? []).slice(0, maxIssues).flatMap(narrowed)) reportIssue(issue, tree, problems);
}

/** Problems stores no more. */
const maxIssues = 50;

type Issue = z.core.$ZodIssue;

/** Returns plain data without extensions other than Coppice's. */
function dataOf(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(dataOf);
  const read = node.entries.filter(({ key }) => !key.startsWith('x-') || key === 'x-coppice');
  return Object.fromEntries(read.map(({ key, value }) => [key, dataOf(value)]));
}

/**
 * Narrows the issue of a value with several permitted kinds: to the issues of the kind that it has, or to the fact that
 * it has none of them.
 */
function narrowed(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branches = issue.errors.map((errors) => errors.flatMap(narrowed));
  const fitting = branches.find((errors) => errors.every(({ path }) => path.length > 0));
  if (fitting !== undefined) return fitting.map((error) => ({ ...error, path: [...issue.path, ...error.path] }));
  const kinds = branches.flat().filter(({ path }) => path.length === 0);
  const message = [...new Set(kinds.map(kindWanted))].join(' or ');
  return [{ code: 'custom', path: issue.path, message, input: undefined }];
}

function reportIssue(issue: Issue, tree: YamlNode, problems: Problems): void {
  const [entry, node] = find(issue.path, tree);
  const key = String(issue.path.at(-1));
  if (issue.code === 'unrecognized_keys') {
    // A file can have thousands, each of which needs a search.
    for (const unknown of issue.keys.slice(0, maxIssues)) {
      const [at] = find([...issue.path, unknown], tree);
      problems.error(at?.at ?? tree, `${quoted(unknown)} is not a key of ${issue.message}: remove it`);
    }
  } else if (issue.code === 'invalid_key') {
    problems.error(entry?.at ?? tree, `${quoted(key)} ${issue.issues[0]?.message ?? 'is not a name'}`);
  } else if (node === undefined) {
    problems.error(find(issue.path.slice(0, -1), tree)[1] ?? tree, `has no ${key}: add it`);
  } else if (issue.code === 'invalid_type' || issue.code === 'custom') {
    problems.error(node, `must be ${kindWanted(issue)}, this is ${kindOf(node)}`);
  } else {
    problems.error(node, `is not valid: ${issue.message}`);
  }
}

const kindNames: Readonly<Record<string, string>> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'text',
};

/** Describes what a value must be. */
function kindWanted(issue: Issue): string {
  return issue.code === 'invalid_type' ? (kindNames[issue.expected] ?? `a ${issue.expected}`) : issue.message;
}

function kindOf(node: YamlNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'empty';
  return typeof node.value === 'string' ? `the text ${quoted(node.value)}` : quoted(node.source);
}

/** Returns the node at a path of the plain data, with its key if it has one. */
function find(path: readonly PropertyKey[], tree: YamlNode): [YamlEntry | undefined, YamlNode | undefined] {
  let entry: YamlEntry | undefined;
  let node: YamlNode | undefined = tree;
  for (const key of path) {
    const parent: YamlNode | undefined = node;
    entry = parent?.kind === 'map' ? parent.entries.find((other) => other.key === String(key)) : undefined;
    node = parent?.kind === 'list' ? parent.items[Number(key)] : entry?.value;
  }
  return [entry, node];
}
