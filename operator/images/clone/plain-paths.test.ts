import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkPaths, mustBePlain } from './plain-paths.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workspace-'));
  await mkdir(join(folder, 'modules/lib'), { recursive: true });
  await symlink('/etc', join(folder, 'link'));
  await symlink('/etc/passwd', join(folder, 'modules/Dockerfile'));
  await writeFile(join(folder, 'file'), '');
});

afterAll(() => rm(folder, { recursive: true }));

test.each(['modules', 'modules/lib', 'modules/lib/new/deeper'])('accepts %s', async (path) => {
  await expect(mustBePlain(folder, path)).resolves.toBeUndefined();
});

test.each(['link', 'link/x', 'file/x', '../x', 'modules/../../x', '.git/hooks', 'modules/.GIT', 'a//b', '/etc'])(
  'refuses %s',
  async (path) => {
    await expect(mustBePlain(folder, path)).rejects.toThrow();
  },
);

test.each([
  [['.'], ['file']],
  [['modules/lib'], ['./file']],
])('accepts contexts %j and Dockerfiles %j', async (folders, files) => {
  await expect(checkPaths(folder, folders, files)).resolves.toBeUndefined();
});

test.each([
  [['link'], ['file'], 'link passes through link'],
  [['.', 'link/x'], ['file'], 'link/x passes through link'],
  [['file'], ['file'], 'file passes through file'],
  [['.'], ['link/passwd'], 'link passes through link'],
  [['.'], ['modules/Dockerfile'], 'modules/Dockerfile is not a file'],
])('refuses contexts %j and Dockerfiles %j', async (folders, files, words) => {
  await expect(checkPaths(folder, folders, files)).rejects.toThrow(words);
});
