import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { run, tryRun } from '../support/run.ts';

export interface Sources {
  commit: string;
  /** Time of the commit in Unix seconds. */
  epoch: number;
  /** Where the commit comes from, without credentials. */
  uri: string;
}

const git = async (...args: string[]) => (await run('git', args, { cwd: REPOSITORY_ROOT })).trim();

/** Modes of files in a tree; others are of links and submodules. */
const fileModes = ['100644', '100755'];

/** Writes the files of HEAD, and nothing else, to a new folder. Throws a Problem if the work tree differs from HEAD. */
export async function exportSources(folder: string): Promise<Sources> {
  const changed = await git('status', '--porcelain', '--untracked-files=all');
  if (changed !== '') throw new Problem(`A release is of a commit. Commit or remove first:\n${changed}`);
  const commit = await git('rev-parse', 'HEAD');
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, '..', 'sources.tar');
  await git('-c', 'tar.umask=0022', 'archive', '--format=tar', `--output=${archive}`, commit);
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  await requireTree(REPOSITORY_ROOT, commit, folder);
  const origin = await tryRun('git', ['remote', 'get-url', 'origin'], { cwd: REPOSITORY_ROOT });
  return { commit, epoch: Number(await git('show', '--no-patch', '--format=%ct', commit)), uri: uriOf(origin?.trim()) };
}

/**
 * Throws a Problem unless the folder has the files of a commit and nothing else: attributes in a commit change or leave out
 * files of its archive. Links are refused, because the release would contain what they lead to on this machine.
 */
export async function requireTree(root: string, commit: string, folder: string): Promise<void> {
  const tree = await run('git', ['ls-tree', '-r', '-z', '--full-tree', commit], { cwd: root });
  const entries = tree.split('\0').flatMap((line) => {
    const [, mode = '', id = '', path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return path === undefined ? [] : [{ mode, id, path }];
  });
  const links = entries.filter(({ mode }) => !fileModes.includes(mode));
  if (links.length > 0) {
    throw new Problem(`A release contains no links or submodules: ${links.map(({ path }) => path).join(', ')}`);
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => !one.isDirectory())
    .map((one) => relative(folder, join(one.parentPath, one.name)));
  const found = new Set(files);
  const expected = new Set(entries.map(({ path }) => path));
  const changed = [
    ...files.filter((path) => !expected.has(path)),
    ...entries
      .filter(({ id, path }) => !found.has(path) || blobId(join(folder, path), id.length) !== id)
      .map(({ path }) => path),
  ];
  if (changed.length > 0) {
    throw new Problem(`Attributes of Git change what the release contains. Remove those of ${changed.join(', ')}`);
  }
}

/** Returns the name that Git gives to a file's content. */
function blobId(file: string, length: number): string {
  const content = readFileSync(file);
  const hash = createHash(length === 40 ? 'sha1' : 'sha256');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Returns the URI of a remote without a login; that of a folder, or none, says nothing to others. */
export function uriOf(remote: string | undefined): string {
  const scp = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/.exec(remote ?? '');
  if (scp) return `git+ssh://${scp[1]}/${scp[2]}`;
  if (remote === undefined || !/^(https?|ssh):\/\//.test(remote)) return 'git+file:coppice';
  const url = new URL(remote);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return `git+${url.toString()}`;
}

/** Throws a Problem unless HEAD is the tagged commit of a version. */
export async function requireTag(version: string): Promise<void> {
  const tags = (await git('tag', '--points-at', 'HEAD')).split('\n');
  if (!tags.includes(`v${version}`)) {
    throw new Problem(`HEAD is not tagged v${version}. Tag the commit of the release, or use --dry-run.`);
  }
}
