import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { CheckResult } from '../api/types.ts';
import { CliError } from '../errors.ts';
import { note, write } from '../io.ts';
import { counted } from '../output/counted.ts';
import { printValue } from '../output/print.ts';
import { visible } from '../output/safe-text.ts';
import { repositoryPath, required } from '../paths.ts';
import { readText } from '../read-text.ts';
import { repositoryId, suggesting } from '../resolve.ts';
import type { Run } from '../session.ts';

/** The API's name of the service file, whatever it is called. */
const checkedName = 'compose.yaml';

/** The API accepts 500 files, and a body of 1 MiB, in which base64 takes a third more. */
const max = { files: 500, bytes: 700 * 1024 };

type Problem = CheckResult['errors'][number];

export const check: Run = async (session, [given]) => {
  const { client, io, format } = session;
  const name = required(given, 'FILE');
  const file = resolve(io.folder, name);
  const id = await repositoryId(session);
  const root = checkoutOf(file);
  // A link in a stranger's branch could name any file of whoever checks it, or a device that never ends.
  if (root !== undefined && existsSync(file) && !isInside(root, file))
    throw new CliError(`${name} is a symbolic link that leads out of the checkout. Check a file of the checkout`);
  const text = readText(io, name);
  const tracked = root === undefined ? [] : await trackedFiles(root);
  if (tracked === undefined) note(io, 'git cannot list the files of the checkout, so the check sees only this file');
  const { files, leftOut } =
    root === undefined || tracked === undefined ? { files: {}, leftOut: 0 } : filesBeside(file, text, root, tracked);
  if (leftOut > 0)
    note(io, `the check leaves out ${counted(leftOut, 'file')} of the checkout, because it is too large`);
  const body = { serviceFile: Buffer.from(text).toString('base64'), files };
  const send = () => client.send<CheckResult>('POST', `${repositoryPath(id)}/check`, { body });
  const answer = await suggesting(session, 'repository', id, send);
  const ofFile = (problem: Problem) => ({ ...problem, file: problem.file === checkedName ? name : problem.file });
  const result = { ...answer, errors: answer.errors.map(ofFile), warnings: answer.warnings.map(ofFile) };
  if (format === 'json' || format === 'yaml') await printValue(io, format, result);
  else {
    for (const [kind, problems] of [['error', result.errors] as const, ['warning', result.warnings] as const]) {
      for (const { file: where, line, column, path, message } of problems) {
        await write(
          io.out,
          `${visible(`${where}:${line}:${column}: ${kind}: ${path === '' ? '' : `${path} `}${message}`)}\n`,
        );
      }
    }
  }
  if (result.errors.length > 0) throw new CliError(`${counted(result.errors.length, 'error')} in ${name}`);
  note(io, `${counted(result.services.length, 'service')}, ${counted(result.warnings.length, 'warning')}`);
};

/**
 * Returns the root of the Git checkout that contains the file, by its path as it is written. A folder that is reached
 * by a link, which can be a stranger's, is one only if nothing around it is.
 */
function checkoutOf(file: string): string | undefined {
  const roots: string[] = [];
  for (let folder = dirname(file), last = ''; folder !== last; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) roots.push(folder);
    last = folder;
  }
  return roots.find((root) => realpathSync(root) === root) ?? roots.at(-1);
}

/** Returns whether an existing file, or the one that it links to, is in the folder. */
function isInside(folder: string, file: string): boolean {
  const path = relative(realpathSync(folder), realpathSync(file));
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** For more than a million paths. */
const maxListBytes = 256 * 1024 * 1024;

/** Returns the paths of the tracked files below the root; undefined without git, or if git refuses the checkout. */
async function trackedFiles(root: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: root, maxBuffer: maxListBytes });
    return stdout.split('\0').filter((path) => path !== '');
  } catch {
    return undefined;
  }
}

/** Returns the tracked files of the checkout: those that the service file names first, then the small ones. */
function filesBeside(
  file: string,
  text: string,
  linkedRoot: string,
  tracked: readonly string[],
): { files: Record<string, string>; leftOut: number } {
  const root = realpathSync(linkedRoot);
  const own = relative(root, realpathSync(file));
  const sized = tracked
    .filter((path) => path !== own)
    .flatMap((path) => {
      const size = sizeOf(root, path);
      return size === undefined ? [] : [{ path, size, isNamed: isNamed(path, text) }];
    })
    .sort((a, b) => Number(b.isNamed) - Number(a.isNamed) || a.size - b.size);
  const files: Record<string, string> = {};
  let bytes = text.length;
  let count = 0;
  for (const { path, size } of sized) {
    if (count >= max.files || bytes + size > max.bytes) continue;
    files[path] = readFileSync(join(root, path)).toString('base64');
    bytes += size + path.length;
    count++;
  }
  return { files, leftOut: sized.length - count };
}

function isNamed(path: string, text: string): boolean {
  const name = path.split('/').at(-1) ?? path;
  return name.startsWith('Dockerfile') || text.includes(name);
}

/** Returns undefined if it is not a file, no longer exists, or is reached through a link. `root` contains none. */
function sizeOf(root: string, path: string): number | undefined {
  const file = join(root, path);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && realpathSync(file) === file ? stats.size : undefined;
}
