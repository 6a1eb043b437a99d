import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { downloadTool, type Get } from './downloaded-tools.ts';
import { run } from '../../support/run.ts';
import { VERSIONS } from '../versions.ts';

describe('downloadTool', () => {
  let folder: string;
  let asked: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'downloads-'));
    asked = [];
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** Publishes one file and the checksum file of the given content. */
  function publisher(file: Uint8Array<ArrayBuffer>, content = file): Get {
    const sum = `${createHash('sha256').update(content).digest('hex')}  file\n`;
    return (url) => {
      asked.push(url);
      return Promise.resolve(new Response(/\.sha256(sum)?$/.test(url) ? sum : file));
    };
  }

  const program = new TextEncoder().encode('#!/bin/sh\necho it runs\n');

  it('writes an executable program of the pinned release', async () => {
    const path = await downloadTool('kubectl', folder, publisher(program), 'linux/arm64');
    expect(await run(path, [])).toBe('it runs\n');
    expect(asked).toContain(`https://dl.k8s.io/release/${VERSIONS.kubernetes}/bin/linux/arm64/kubectl`);
  });

  it('downloads nothing that exists', async () => {
    await downloadTool('kind', folder, publisher(program), 'linux/amd64');
    asked = [];
    await downloadTool('kind', folder, publisher(program), 'linux/amd64');
    expect(asked).toEqual([]);
  });

  it('unpacks the program of an archive', async () => {
    mkdirSync(join(folder, 'linux-amd64'));
    writeFileSync(join(folder, 'linux-amd64/helm'), program);
    await run('tar', ['-c', '-z', '-f', join(folder, 'helm.tar.gz'), '-C', folder, 'linux-amd64/helm']);
    const archive = new Uint8Array(readFileSync(join(folder, 'helm.tar.gz')));
    const path = await downloadTool('helm', join(folder, 'tools'), publisher(archive), 'linux/amd64');
    expect(await run(path, [])).toBe('it runs\n');
  });

  it('rejects a file of another digest', async () => {
    const get = publisher(program, new TextEncoder().encode('something else'));
    await expect(downloadTool('kind', folder, get, 'linux/amd64')).rejects.toThrow('SHA-256');
  });

  it('rejects what the publisher does not have', async () => {
    const get: Get = () => Promise.resolve(new Response('', { status: 404 }));
    await expect(downloadTool('kind', folder, get, 'linux/amd64')).rejects.toThrow('responds with status 404');
  });
});
