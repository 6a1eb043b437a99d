import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates an empty folder of this name among the temporary files, and returns its path. Removes the repositories and
 * credentials that a killed process left there: an emptyDir volume outlives restarts of its container.
 */
export function createEmptyScratchFolder(name: string): string {
  const folder = join(tmpdir(), name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}
