import { lstat } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';

/**
 * Throws if a build context is not a folder or a Dockerfile is not a file. A symbolic link in the commit or a submodule
 * could lead buildctl to its own credentials.
 */
export async function checkPaths(workspace: string, folders: readonly string[], files: readonly string[]) {
  for (const folder of [...folders, ...files.map((file) => dirname(file))]) {
    if (normalize(folder) !== '.') await mustBePlain(workspace, normalize(folder));
  }
  for (const file of files) {
    if (!(await lstat(join(workspace, file))).isFile()) throw new Error(`${file} is not a file. Replace it by one`);
  }
}

/** Throws if the path passes through anything except folders: a symbolic link would redirect the fetched files. */
export async function mustBePlain(workspace: string, path: string): Promise<void> {
  const names = path.split('/');
  if (names.some((name) => ['', '.', '..', '.git'].includes(name.toLowerCase()))) {
    throw new Error(`${JSON.stringify(path)} is not a path that Coppice writes to. Rename it`);
  }
  let at = workspace;
  for (const name of names) {
    at = join(at, name);
    const found = await lstat(at).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    });
    if (!found) return;
    if (!found.isDirectory())
      throw new Error(`${path} passes through ${name}, which is not a folder. Replace it by one`);
  }
}
