import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, usageError } from './errors.ts';
import type { Io } from './io.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
};

/** Reads a file that an argument names. @throws CliError */
export function readText({ folder }: Pick<Io, 'folder'>, file: string): string {
  const path = resolve(folder, file);
  // Pipes of the shell, as in <(command), end; devices such as /dev/zero do not.
  if (statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true)
    throw usageError(`${file} cannot be read: it is a device`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? '';
    throw usageError(`${file} cannot be read: ${reasons[code] ?? String(error)}`);
  }
}
