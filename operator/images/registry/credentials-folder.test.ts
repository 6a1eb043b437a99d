import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { openCredentials } from './credentials-folder.ts';

const logger = pino({ level: 'silent' });
let folder: string;
let stop: () => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  stop = () => undefined;
});

afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});

/** Writes a Secret as the kubelet does: a folder for each version, constant links, and one link that is replaced. */
function mount(revision: string, username: string, password: string): void {
  const data = join(folder, `..${revision}`);
  mkdirSync(data);
  writeFileSync(join(data, 'username'), username);
  writeFileSync(join(data, 'password'), password);
  symlinkSync(`..${revision}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

describe('openCredentials', () => {
  it('reads plain files, without the line break at their end', () => {
    writeFileSync(join(folder, 'username'), 'robot\n');
    writeFileSync(join(folder, 'password'), ' word \r\n');
    expect(openCredentials(folder, logger).current()).toEqual({ username: 'robot', password: ' word ' });
  });

  it('refuses to start without them', () => {
    expect(() => openCredentials(folder, logger)).toThrow('username');
    mount('1', 'robot', '');
    expect(() => openCredentials(folder, logger)).toThrow('missing or empty');
  });

  it('reads what the kubelet replaces them by', async () => {
    mount('1', 'AWS', 'first');
    const credentials = openCredentials(folder, logger);
    const changed = new Promise<void>((resolve) => (stop = credentials.watch(resolve)));
    mount('2', 'AWS', 'second');
    await changed;
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'second' });
  });

  it('keeps the former ones while the new ones cannot be read, and reads the next', async () => {
    mount('1', 'AWS', 'first');
    const credentials = openCredentials(folder, logger);
    const changed = new Promise<void>((resolve) => (stop = credentials.watch(resolve)));
    mount('2', 'AWS', '');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'first' });
    mount('3', 'AWS', 'third');
    await changed;
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'third' });
  });
});
