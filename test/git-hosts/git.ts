import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const identity = {
  GIT_AUTHOR_NAME: 'Host',
  GIT_AUTHOR_EMAIL: 'host@example.com',
  GIT_COMMITTER_NAME: 'Host',
  GIT_COMMITTER_EMAIL: 'host@example.com',
};

/** Runs git in a bare repository; returns its output without the trailing line break. */
async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('git', ['-C', folder, ...args], { env: { PATH: process.env['PATH'], ...identity } });
  return stdout.trimEnd();
}

/** Returns the branches and tags with their objects, by full name. */
export async function refsOf(folder: string): Promise<Map<string, string>> {
  const lines = await git(folder, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags');
  return new Map(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string]),
  );
}

export async function hasCommit(folder: string, commit: string): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(commit)) return false;
  return git(folder, 'cat-file', '-e', `${commit}^{commit}`).then(
    () => true,
    () => false,
  );
}

/** Copies a branch of one repository to a ref of another, as hosts keep the head of a pull request. */
export async function copyRef(from: string, name: string, to: string, as: string): Promise<void> {
  if (from === to) await git(to, 'update-ref', as, name);
  else await git(to, 'fetch', '--quiet', '--no-tags', from, `+${name}:${as}`);
}

export async function deleteRef(folder: string, name: string): Promise<void> {
  await git(folder, 'update-ref', '-d', name);
}

/** Sets the ref to the merge of two commits; deletes it if they conflict. Returns the merge commit. */
export async function mergeRef(
  folder: string,
  name: string,
  target: string,
  source: string,
): Promise<string | undefined> {
  const tree = await git(folder, 'merge-tree', '--write-tree', target, source).catch(() => undefined);
  if (tree === undefined) {
    await deleteRef(folder, name);
    return undefined;
  }
  const parents = ['-p', target, '-p', source];
  const commit = await git(folder, 'commit-tree', tree.split('\n')[0] ?? '', ...parents, '-m', 'Merge pull request');
  await git(folder, 'update-ref', name, commit);
  return commit;
}
