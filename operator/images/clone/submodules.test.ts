import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Submodules } from './submodules.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workspace-'));
});

afterAll(() => rm(folder, { recursive: true }));

describe('a link to a commit of another repository', () => {
  /** Fetches the submodules of a repository with a link at `app/lib`, for a build of `folder`. */
  async function fetch(files: Record<string, string>, built: string): Promise<void> {
    const repository = await mkdtemp(join(folder, 'repository-'));
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { stdio: 'pipe' });
    git('init', '--quiet');
    for (const [name, content] of Object.entries(files)) await writeFile(join(repository, name), content);
    git('add', '--all');
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},app/lib`);
    git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '--message=x');
    const root = {
      gitDir: join(repository, '.git'),
      folder: repository,
      path: '',
      origin: 'https://git.example.com/x.git',
      commit: 'HEAD',
      config: '/dev/null',
      authorization: undefined,
    };
    const rules = { isAddressAllowed: () => false, ports: [443], sshPorts: [22] };
    const options = { workspace: repository, scratch: folder, rules, root, credentials: undefined };
    await new Submodules({ ...options, isKeyLent: true, paths: [built] }).fetch(root, () => Promise.resolve());
  }
  const unusable = { '.gitmodules': '[submodule "x"]\n\tpath = other\n\turl = ../other\n' };

  test.each(['app', '.', 'other'])('without .gitmodules stays empty where %s is built', async (built) => {
    await expect(fetch({ 'README.md': '' }, built)).resolves.toBeUndefined();
  });

  test('that no build reads needs no entry in .gitmodules', async () => {
    await expect(fetch(unusable, 'other')).resolves.toBeUndefined();
    await expect(fetch({ '.gitmodules': '[submodule' }, 'other')).resolves.toBeUndefined();
  });

  test('that a build reads needs one', async () => {
    await expect(fetch(unusable, 'app')).rejects.toThrow(/has no URL for the submodule app\/lib/);
    await expect(fetch({ '.gitmodules': '[submodule' }, 'app')).rejects.toThrow('git config failed');
  });
});
