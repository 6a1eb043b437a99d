import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates an empty folder of this name among the temporary files, and returns its path. It removes the repositories and
 * credentials that a killed process left there: a container's volume outlives its restarts.
 */
export function emptyScratchFolder(name: string): string {
  const folder = join(tmpdir(), name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}
