import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../cluster/paths.ts';
import { Problem } from '../cluster/problem.ts';
import { run, tryRun } from '../cluster/run.ts';

export interface Sources {
  commit: string;
  /** Time of the commit in Unix seconds. */
  epoch: number;
  /** Where the commit comes from, without credentials. */
  uri: string;
}

const git = async (...args: string[]) => (await run('git', args, { cwd: REPOSITORY_ROOT })).trim();

/** Writes the files of HEAD, and nothing else, to a new folder. Throws a Problem if the work tree differs from HEAD. */
export async function exportSources(folder: string): Promise<Sources> {
  const changed = await git('status', '--porcelain');
  if (changed !== '') throw new Problem(`A release is of a commit. Commit or remove first:\n${changed}`);
  const commit = await git('rev-parse', 'HEAD');
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, '..', 'sources.tar');
  await git('-c', 'tar.umask=0022', 'archive', '--format=tar', `--output=${archive}`, commit);
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  const origin = await tryRun('git', ['remote', 'get-url', 'origin'], { cwd: REPOSITORY_ROOT });
  return { commit, epoch: Number(await git('show', '--no-patch', '--format=%ct', commit)), uri: uriOf(origin?.trim()) };
}

/** Returns the URI of a remote without a login; that of a folder, or none, says nothing to others. */
export function uriOf(remote: string | undefined): string {
  const scp = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/.exec(remote ?? '');
  if (scp) return `git+ssh://${scp[1]}/${scp[2]}`;
  if (remote === undefined || !/^(https?|ssh):\/\//.test(remote)) return 'git+file:coppice';
  const url = new URL(remote);
  url.username = '';
  url.password = '';
  return `git+${url.toString()}`;
}

/** Throws a Problem unless HEAD is the tagged commit of a version. */
export async function requireTag(version: string): Promise<void> {
  const tags = (await git('tag', '--points-at', 'HEAD')).split('\n');
  if (!tags.includes(`v${version}`)) {
    throw new Problem(`HEAD is not tagged v${version}. Tag the commit of the release, or use --dry-run.`);
  }
}
