import { posix } from 'node:path';
import { type FileKind, FileUnreadableError, type RepositoryFiles } from './files.ts';

/** Returns a repository with files in memory, by path: for tests, and for checks without a repository. */
export function memoryFiles(contents: Readonly<Record<string, string | Buffer>>): RepositoryFiles {
  const files = new Map(Object.entries(contents).map(([path, content]) => [path, Buffer.from(content)]));
  const folders = new Set(['']);
  for (const path of files.keys()) {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) folders.add(folder);
  }
  return {
    isPartial: true,
    kindOf: (path): FileKind | undefined => (files.has(path) ? 'file' : folders.has(path) ? 'folder' : undefined),
    filesBelow: (folder) => [...files.keys()].filter((path) => folder === '' || path.startsWith(`${folder}/`)).sort(),
    isExecutable: () => false,
    read: (path) => {
      const content = files.get(path);
      if (content === undefined) return Promise.reject(new FileUnreadableError(`there is no file ${path}`));
      return Promise.resolve(content);
    },
  };
}
