import { SourceRefusedError } from '../errors.ts';

export interface TreeEntry {
  /** `''` is the root. */
  path: string;
  type: 'file' | 'folder' | 'symlink' | 'submodule';
  /** The Git object's id: the content's address. */
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
 * The entries of `git ls-tree -r -t -z`, and the root itself. Throws SourceRefusedError for a path that is there twice:
 * what a checkout then leaves is not what is found here (a link in the place of a folder, say).
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
 * The entry at exactly this path. A path that leads through a symbolic link has none: Git lists what is there, so a
 * link can lead a build's context nowhere else.
 */
export function entryAt(entries: readonly TreeEntry[], path: string): TreeEntry | undefined {
  const plain = path === '.' ? '' : path;
  return entries.find((entry) => entry.path === plain);
}
