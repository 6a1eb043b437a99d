import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ProcessLock, startOf } from './process-lock.ts';

describe('ProcessLock', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'process-lock-'));
    file = join(folder, 'lock');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('is taken once, until it is released', () => {
    const lock = new ProcessLock(file);
    expect(lock.take()).toBeUndefined();
    expect(new ProcessLock(file).take()).toBe(process.pid);
    lock.release();
    expect(new ProcessLock(file).take()).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  it('names the running process that holds it', () => {
    writeFileSync(file, `${process.ppid} ${startOf(process.ppid) ?? ''}`);
    expect(new ProcessLock(file).take()).toBe(process.ppid);
  });

  it('names a running process of which the start is unknown', () => {
    writeFileSync(file, String(process.ppid));
    expect(new ProcessLock(file).take()).toBe(process.ppid);
  });

  it.each([
    ['a process that has ended', () => `${2 ** 22 + 1} 12345`],
    ['a process whose ID another one has now', () => `${process.ppid} 1`],
    ['nobody', () => ''],
  ])('is taken from %s', (_whom, content) => {
    writeFileSync(file, content());
    expect(new ProcessLock(file).take()).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
  });
});
