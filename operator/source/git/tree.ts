import { SourceRefusedError } from '../errors.ts';

export interface TreeEntry {
  /** `''` is the root. */
  path: string;
  type: 'file' | 'folder' | 'symlink' | 'submodule';
  /** ID of the Git object, which identifies its content. */
  id: string;
  isExecutable: boolean;
}

const types: Record<string, TreeEntry['type']> = {
  '100644': 'file',
  '100755': 'file',
  '120000': 'symlink',
  '160000': 'submodule',
  '040000': 'folder',
};

/**
 * Maximum number of files and folders of a commit; the Linux kernel has 93,000. A few objects of Git can describe any
 * number of them, by trees that contain the same tree many times, and each takes about 300 bytes of memory.
 */
const maxTreeEntries = 150_000;

/**
 * Returns how many entries the output of `git ls-tree -z` has. Throws SourceRefusedError for too many, before they take
 * memory.
 */
export function countEntries(output: string): number {
  let count = 0;
  for (let at = output.indexOf('\0'); at >= 0; at = output.indexOf('\0', at + 1)) count++;
  if (count > maxTreeEntries) {
    throw new SourceRefusedError(
      'Refused',
      `the commit has ${count} files and folders, more than ${maxTreeEntries}. Split the repository, or remove generated files`,
    );
  }
  return count;
}

/**
 * Parses `git ls-tree -r -t -z`, and adds the root. Throws SourceRefusedError for a duplicate path: a checkout could
 * contain another object than the one found here, such as a link instead of a folder.
 */
export function parseTree(output: string, rootId: string): TreeEntry[] {
  const entries = output
    .split('\0')
    .filter(Boolean)
    .map((line): TreeEntry => {
      const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return { path, type: types[mode] ?? 'file', id, isExecutable: mode === '100755' };
    });
  const paths = new Set<string>();
  for (const { path } of entries) {
    if (paths.has(path)) {
      throw new SourceRefusedError(
        'Refused',
        `${JSON.stringify(path)} is in the commit twice, which no Git client creates. Commit the files again`,
      );
    }
    paths.add(path);
  }
  return [{ path: '', type: 'folder', id: rootId, isExecutable: false }, ...entries];
}

/**
 * Returns the entry at exactly this path. Does not follow symbolic links, so that a link cannot lead a build's context
 * elsewhere.
 */
export function entryAt(byPath: ReadonlyMap<string, TreeEntry>, path: string): TreeEntry | undefined {
  return byPath.get(path === '.' ? '' : path);
}

/** Returns the entries of a tree by path. */
export function entriesByPath(entries: readonly TreeEntry[]): ReadonlyMap<string, TreeEntry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}
