import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/run.ts';

const identity = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.com'];

/** Pushes these files as one commit to all branches; returns the commit. */
export function pushBranches(url: string, files: Record<string, string>, branches: readonly string[]): Promise<string> {
  return inNewRepository(async (folder, git) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await git('add', '--all');
    await git(...identity, 'commit', '--quiet', '--message', 'One for many branches');
    await git('push', '--quiet', '--force', url, ...branches.map((branch) => `HEAD:refs/heads/${branch}`));
    return (await git('rev-parse', 'HEAD')).trim();
  });
}

export function deleteBranches(url: string, branches: readonly string[]): Promise<void> {
  return inNewRepository(async (_folder, git) => {
    await git('push', '--quiet', url, ...branches.map((branch) => `:refs/heads/${branch}`));
  });
}

type Git = (...args: string[]) => Promise<string>;

async function inNewRepository<T>(work: (folder: string, git: Git) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-push-'));
  try {
    const git: Git = (...args) => run('git', ['-C', folder, ...args]);
    await git('init', '--quiet', '--initial-branch=main');
    return await work(folder, git);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
