import { lstatSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileKind, FileUnreadableError, type RepositoryFiles } from './files.ts';

const maxBytes = 1024 * 1024;
const maxFiles = 50_000;

/** Returns the files of a local folder. Never reads outside it, neither by `..` nor through symbolic links. */
export function localFolder(root: string): RepositoryFiles {
  const kindOf = (path: string): FileKind | undefined => {
    const steps = path === '' ? [] : path.split('/');
    if (path.includes('\0') || steps.some((step) => step === '' || step === '.' || step === '..')) return undefined;
    const parents = steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1));
    if (parents.some((parent) => kindAt(join(root, ...parent)) !== 'folder')) return undefined;
    return kindAt(join(root, ...steps));
  };
  return {
    kindOf,
    filesBelow: (folder) => (kindOf(folder) === 'folder' ? filesBelow(root, folder) : []),
    isExecutable: (path) => kindOf(path) === 'file' && (lstatSync(join(root, path)).mode & 0o111) !== 0,
    read: async (path) => {
      if (kindOf(path) !== 'file')
        throw new FileUnreadableError(`there is no file ${path} in the folder: add it, or correct the path`);
      const file = join(root, path);
      if (lstatSync(file).size > maxBytes) throw new FileUnreadableError(`${path} is larger than 1 MiB: shorten it`);
      try {
        return await readFile(file);
      } catch (error) {
        throw new FileUnreadableError(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`);
      }
    },
  };
}

function kindAt(path: string): FileKind | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) return 'symlink';
  if (found?.isDirectory() === true) return 'folder';
  return found?.isFile() === true ? 'file' : undefined;
}

/** Lists the files without Git's own folder, which is not part of a repository's files. */
function filesBelow(root: string, folder: string): string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && files.length < maxFiles; next = folders.pop()) {
    for (const entry of readdirSync(join(root, next), { withFileTypes: true })) {
      const path = next === '' ? entry.name : `${next}/${entry.name}`;
      // Links are listed without being followed, as in a repository.
      if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
      else if (entry.isDirectory() && entry.name !== '.git') folders.push(path);
    }
  }
  return files.sort();
}
