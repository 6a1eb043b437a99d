import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createEmptyScratchFolder } from './scratch-folder.ts';

const name = `scratch-${randomBytes(4).toString('hex')}`;
const elsewhere = join(tmpdir(), `${name}-elsewhere`);

afterEach(() => {
  for (const folder of [join(tmpdir(), name), elsewhere]) rmSync(folder, { recursive: true, force: true });
});

test('removes what a killed process left, and lets no other account read the folder', () => {
  const folder = createEmptyScratchFolder(name);
  mkdirSync(join(folder, 'git-a1b2c3'));
  writeFileSync(join(folder, 'git-a1b2c3', 'credentials'), 'secret');
  expect(createEmptyScratchFolder(name)).toBe(folder);
  expect(readdirSync(folder)).toEqual([]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('does not follow a link that somebody else made', () => {
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'kept'), '');
  symlinkSync(elsewhere, join(tmpdir(), name));
  const folder = createEmptyScratchFolder(name);
  expect(existsSync(join(elsewhere, 'kept'))).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});
