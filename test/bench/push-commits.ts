import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/run.ts';

/** Pushes one file to every branch, in a separate commit each, because real branches differ. */
export async function pushCommits(url: string, branches: readonly string[], file: string, text: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-push-'));
  try {
    const git = (args: readonly string[], input?: string) =>
      run('git', ['-C', folder, ...args], { deadline: 300, ...(input !== undefined && { input }) });
    await git(['init', '--quiet', '--bare']);
    await git(['fast-import', '--quiet'], branches.map((branch) => commit(branch, file, text)).join(''));
    await git(['push', '--quiet', '--force', url, 'refs/heads/*:refs/heads/*']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a commit in the format of git fast-import. */
function commit(branch: string, file: string, text: string): string {
  const message = `The work on ${branch}`;
  return [
    `commit refs/heads/${branch}`,
    'committer Bench <bench@example.com> 1767225600 +0000',
    `data ${Buffer.byteLength(message)}`,
    message,
    `M 100644 inline ${file}`,
    `data ${Buffer.byteLength(text)}`,
    text,
    '',
  ].join('\n');
}
