// Checks the format of all files with prettier. What was well formatted before is remembered by its content, so that a
// fresh clone checks only what nobody has checked: prettier's own cache knows files by their absolute paths.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CACHE_FOLDER, REPOSITORY_ROOT } from '../cluster/paths.ts';

const cache = join(CACHE_FOLDER, 'formatted-contents.json');
/** Enough for several versions of every file. */
const maxRemembered = 20_000;

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

process.chdir(REPOSITORY_ROOT);
const packages = ['prettier', '@prettier/plugin-oxc'].map((name) => `node_modules/${name}/package.json`);
const settings = ['.prettierrc.json', '.prettierignore', ...packages].map(textOf);
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
});
const hashes = new Map(
  [...new Set(listed.split('\0'))].filter(isFile).map((file) => {
    const named = createHash('sha256').update(JSON.stringify([settings, file]));
    return [file, named.update(readFileSync(file)).digest('base64')];
  }),
);
const remembered = existsSync(cache) ? z.array(z.string()).parse(JSON.parse(readFileSync(cache, 'utf8'))) : [];
const known = new Set(remembered);
const unchecked = [...hashes].filter(([, hash]) => !known.has(hash)).map(([file]) => file);
const args = ['--check', '--ignore-unknown', '--log-level=warn', '--', ...unchecked];
const status = unchecked.length === 0 ? 0 : spawnSync('prettier', args, { stdio: 'inherit' }).status;
if (status === 0) {
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const kept = [...new Set([...hashes.values(), ...remembered])].slice(0, maxRemembered);
  writeFileSync(cache, JSON.stringify(kept));
}
console.log(`${hashes.size} files, of which ${unchecked.length} were not checked before`);
process.exitCode = status ?? 1;
