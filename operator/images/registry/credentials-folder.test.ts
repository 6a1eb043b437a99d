import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { CredentialsFolder } from './credentials-folder.ts';

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

/** As the kubelet writes a Secret: a folder for each version, links that stay, and one link that is exchanged. */
function mount(revision: string, username: string, password: string): void {
  const data = join(folder, `..${revision}`);
  mkdirSync(data);
  writeFileSync(join(data, 'username'), username);
  writeFileSync(join(data, 'password'), password);
  symlinkSync(`..${revision}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

describe('CredentialsFolder', () => {
  it('has none where there is no folder', () => {
    expect(new CredentialsFolder(undefined, logger).current()).toBeUndefined();
  });

  it('reads plain files, without the end of their line', () => {
    writeFileSync(join(folder, 'username'), 'robot\n');
    writeFileSync(join(folder, 'password'), ' word \r\n');
    expect(new CredentialsFolder(folder, logger).current()).toEqual({ username: 'robot', password: ' word ' });
  });

  it('refuses to start without them', () => {
    expect(() => new CredentialsFolder(folder, logger)).toThrow('username');
    mount('1', 'robot', '');
    expect(() => new CredentialsFolder(folder, logger)).toThrow('is empty');
  });

  it('takes over what the kubelet puts in their place', async () => {
    mount('1', 'AWS', 'first');
    const credentials = new CredentialsFolder(folder, logger);
    const changed = new Promise<void>((resolve) => (stop = credentials.watch(resolve)));
    mount('2', 'AWS', 'second');
    await changed;
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'second' });
  });

  it('keeps the former ones when the new ones cannot be read, and takes the next', async () => {
    mount('1', 'AWS', 'first');
    const credentials = new CredentialsFolder(folder, logger);
    const changed = new Promise<void>((resolve) => (stop = credentials.watch(resolve)));
    mount('2', 'AWS', '');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'first' });
    mount('3', 'AWS', 'third');
    await changed;
    expect(credentials.current()).toEqual({ username: 'AWS', password: 'third' });
  });
});
