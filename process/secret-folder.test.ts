import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { SecretFolder } from './secret-folder.ts';

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

function parse(files: ReadonlyMap<string, string>): string {
  const text = files.get('key');
  if (text === undefined) throw new Error('there is no key');
  return text;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries += 1) await setTimeout(10);
  expect(holds()).toBe(true);
}

test('reads the files of a Secret, and again when they change', async () => {
  write('..1', { key: 'first' });
  const secret = new SecretFolder(folder, parse, logger);
  const stop = secret.watch();
  expect(secret.current()).toBe('first');
  write('..2', { key: 'second' });
  await until(() => secret.current() === 'second');
  write('..3', { other: 'x' });
  await setTimeout(300);
  expect(secret.current()).toBe('second');
  stop();
});

test('throws if there is nothing to read at the start', () => {
  write('..1', {});
  expect(() => new SecretFolder(folder, parse, logger)).toThrow('there is no key');
});
