import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/run.ts';

/** Pushes a branch's commit to the ref where hosts publish a pull request. */
export async function pushPullRequest(origin: string, branch: string, number: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-pull-request-'));
  try {
    const clone = join(folder, 'clone.git');
    await run('git', ['clone', '--quiet', '--bare', origin, clone]);
    await run('git', ['-C', clone, 'push', '--quiet', origin, `refs/heads/${branch}:refs/pull/${number}/head`]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
