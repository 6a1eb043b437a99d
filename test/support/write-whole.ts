import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file as a whole: a machine that stops meanwhile must not leave a part of it. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
