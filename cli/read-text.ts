import { readFileSync } from 'node:fs';
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
  try {
    return readFileSync(resolve(folder, file), 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? '';
    throw usageError(`${file} cannot be read: ${reasons[code] ?? String(error)}`);
  }
}
