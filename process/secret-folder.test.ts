import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { textIn, SecretFolder, type SecretFiles } from './secret-folder.ts';

const logger = pino({ level: 'silent' });
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-secret-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a Secret as the kubelet does: a folder for each version, and a link that is replaced. */
function write(version: string, files: Record<string, string>): void {
  mkdirSync(join(folder, version));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, version, name), text);
  symlinkSync(version, join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
}

function parse(files: SecretFiles): string {
  const text = textIn(files, 'key');
  if (text === '') throw new Error('there is no key');
  return text;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries += 1) await setTimeout(10);
  expect(holds()).toBe(true);
}

test('reads the files of a Secret, reports changed content, and ignores invalid files', async () => {
  write('..1', { key: 'first' });
  const secret = new SecretFolder(folder, parse, logger);
  let changes = 0;
  const stop = secret.watch(() => (changes += 1));
  expect(secret.current()).toBe('first');
  write('..2', { key: 'second' });
  await until(() => secret.current() === 'second');
  write('..3', { other: 'x' });
  await setTimeout(300);
  expect(secret.current()).toBe('second');
  write('..4', { key: 'second' });
  await setTimeout(300);
  expect(changes).toBe(1);
  stop();
});

test('throws if there is nothing to read at the start', () => {
  write('..1', {});
  expect(() => new SecretFolder(folder, parse, logger)).toThrow('there is no key');
});
