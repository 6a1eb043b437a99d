import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { linkOrCopy } from './link-layers.ts';

const folders: string[] = [];
const folderIn = (parent: string) => {
  const folder = mkdtempSync(join(parent, 'link-layers-'));
  folders.push(folder);
  return folder;
};
/** A file system of its own on Linux. */
const shared = '/dev/shm';

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test('links a file on the same mount', async () => {
  const folder = folderIn(tmpdir());
  writeFileSync(join(folder, 'layer'), 'content');
  await linkOrCopy(join(folder, 'layer'), join(folder, 'data'));
  expect(statSync(join(folder, 'data')).ino).toBe(statSync(join(folder, 'layer')).ino);
});

(existsSync(shared) ? test : test.skip)('copies a file to another mount, and leaves nothing else there', async () => {
  const [folder, other] = [folderIn(tmpdir()), folderIn(shared)];
  writeFileSync(join(folder, 'layer'), 'content');
  await linkOrCopy(join(folder, 'layer'), join(other, 'data'));
  expect(readdirSync(other)).toEqual(['data']);
  expect(readFileSync(join(other, 'data'), 'utf8')).toBe('content');
});

test('keeps a file that is there', async () => {
  const folder = folderIn(tmpdir());
  writeFileSync(join(folder, 'layer'), 'new');
  writeFileSync(join(folder, 'data'), 'old');
  await linkOrCopy(join(folder, 'layer'), join(folder, 'data'));
  expect(readFileSync(join(folder, 'data'), 'utf8')).toBe('old');
});
