import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { Problem } from '../support/problem.ts';

/** Creates a folder for the files of a release, or empties that of a former one. Throws a Problem if it has other files. */
export function createOutputFolder(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.length > 0 && !names.includes('SHA256SUMS')) {
    throw new Problem(`${folder} has files of no release, which would be deleted. Name another folder with --out.`);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
