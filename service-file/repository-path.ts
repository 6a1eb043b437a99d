import { posix } from 'node:path';
import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import type { YamlNode } from './yaml/yaml-node.ts';

/**
 * Resolves a path of the file, relative to the folder `base`, to one from the repository's root: without `./`, `..` and
 * a trailing slash, `''` for the root. Reports a path that leaves the repository; RepositoryFiles does not follow
 * symbolic links.
 */
export function readRepositoryPath(text: string, base: string, node: YamlNode, problems: Problems): string | undefined {
  if (/[\\\p{Cc}]/u.test(text)) {
    return problems.error(
      node,
      `the path ${quoted(text)} has a backslash or a control character: use / and plain names`,
    );
  }
  if (text.startsWith('/') || text.startsWith('~')) {
    return problems.error(node, `the path ${quoted(text)} is absolute: it must be relative and inside the repository`);
  }
  const joined = posix.join(base, text).replace(/\/$/, '');
  if (joined === '..' || joined.startsWith('../')) {
    return problems.error(node, `the path ${quoted(text)} leads out of the repository: name one inside it`);
  }
  return joined === '.' ? '' : joined;
}

/** Returns the folder of a repository's file; the root is ''. */
export function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}
