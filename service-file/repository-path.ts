import { posix } from 'node:path';
import type { Problems } from './problems.ts';
import { quoted } from './problems.ts';
import type { YamlNode } from './yaml/yaml-node.ts';

/**
 * A path of the file, which starts from the folder `base`, as one from the repository's root: without `./`, `..` and a
 * last slash, `''` for the root itself. Called with when it leads out of the repository; symbolic links are not
 * followed by RepositoryFiles.
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
    return problems.error(node, `the path ${quoted(text)} leads out of the repository`);
  }
  return joined === '.' ? '' : joined;
}

/** Returns the folder of a repository's file; the root is ''. */
export function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}
