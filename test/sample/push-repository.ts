import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { run } from '../support/run.ts';

export const SAMPLE_REPOSITORY = join(import.meta.dirname, 'repository');

export interface Push {
  /** URL of the repository. */
  url: string;
  branch: string;
  /** Full name of the ref to push to, if it is not a branch. */
  ref?: string;
  /** A folder to start with; empty if absent. */
  from?: string;
  /** Files to add or change, by path. */
  files?: Record<string, string>;
  /** User name and password for the Git server. */
  credentials?: { username: string; password: string };
}

/** A fixed author and time: equal files give equal commits, so pushing them again changes nothing. */
const identity = {
  GIT_AUTHOR_NAME: 'Sample',
  GIT_AUTHOR_EMAIL: 'sample@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Sample',
  GIT_COMMITTER_EMAIL: 'sample@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** Pushes files as one commit that replaces a branch; returns the commit. */
export async function pushRepository({ url, branch, ref, from, files = {}, credentials }: Push): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-push-'));
  try {
    if (from !== undefined) await cp(from, folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const authorization: Record<string, string> = credentials ? authorizationHeader(credentials) : {};
    const git = (...args: string[]) => run('git', ['-C', folder, ...args], { env: { ...identity, ...authorization } });
    await git('init', '--quiet', `--initial-branch=${branch}`);
    await git('add', '--all');
    await git('commit', '--quiet', '--message', `The sample on ${branch}`);
    await git('push', '--quiet', '--force', url, `HEAD:${ref ?? `refs/heads/${branch}`}`);
    return (await git('rev-parse', 'HEAD')).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deletes a ref, by full name, at the Git server. */
export async function deleteRef(
  url: string,
  ref: string,
  credentials: NonNullable<Push['credentials']>,
): Promise<void> {
  await run('git', ['push', '--quiet', url, `:${ref}`], { env: authorizationHeader(credentials) });
}

function authorizationHeader({ username, password }: { username: string; password: string }): Record<string, string> {
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
}
