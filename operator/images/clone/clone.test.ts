import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AFTER_CLONE, NOT_CLONED } from '../build/after-clone.ts';
import { issueCertificates } from '../builders/certificates.ts';
import { gitConfig } from '../../source/git/git-config.ts';
import { CA_FILE } from '../../source/git/git-files.ts';
import { gitHttp } from '../../source/git/testing/git-http.ts';

let folder: string;
let server: Server;
let origin: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clone-'));
  server = createServer(gitHttp(() => folder));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** Creates a repository whose tree has exactly these entries; `folder` contains one file. */
function repository(name: string, entries: [mode: string, path: string, what: 'folder' | 'file' | 'link'][]): string {
  const git = (args: string[], input?: string | Buffer) =>
    execFileSync('git', ['-C', join(folder, name), ...args], { input, encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(folder, name)]);
  const file = git(['hash-object', '-w', '--stdin'], 'FROM node:24\n');
  const ids = {
    file,
    link: git(['hash-object', '-w', '--stdin'], '/credentials'),
    folder: git(['mktree'], `100644 blob ${file}\tfile\n`),
  };
  const parts = entries.flatMap(([mode, path, what]) => [
    Buffer.from(`${mode} ${path}\0`),
    Buffer.from(ids[what], 'hex'),
  ]);
  const tree = git(['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], Buffer.concat(parts));
  const commit = git(['-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit-tree', '-m', 'x', tree]);
  git(['update-ref', 'refs/heads/main', commit]);
  return commit;
}

const workspaceOf = (name: string) => join(folder, `${name}-workspace`);

/** Starts clone.sh for a build of `ctx` with `Dockerfile`, in a process group of its own. */
async function startClone(name: string, commit: string, config: string, at = origin, contexts = ['ctx']) {
  const configFile = join(folder, `${name}.gitconfig`);
  await writeFile(configFile, config);
  const settings = {
    allowedCidrs: [],
    ports: [80],
    sshPorts: [22],
    trusted: true,
    folders: contexts,
    files: ['Dockerfile'],
  };
  return spawn('sh', [join(import.meta.dirname, 'clone.sh')], {
    detached: true,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ORIGIN: `${at}/${name}`,
      REF: 'refs/heads/main',
      COMMIT: commit,
      WORKSPACE: workspaceOf(name),
      GIT_CONFIG_GLOBAL: configFile,
      CLONE_SETTINGS: JSON.stringify(settings),
    },
  });
}

/** Returns the exit code and the output of a process. */
async function endOf(child: ReturnType<typeof spawn>) {
  let reported = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (reported += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, reported };
}

/** Runs clone.sh; returns its exit code, its output and the folder that it wrote to. */
async function clone(...[name, ...rest]: Parameters<typeof startClone>) {
  return { ...(await endOf(await startClone(name, ...rest))), workspace: workspaceOf(name) };
}

const config = () => gitConfig({ origin, address: '127.0.0.1' }, undefined);
const dockerfile: [string, string, 'file'] = ['100644', 'Dockerfile', 'file'];
const twice: Parameters<typeof repository>[1] = [dockerfile, ['40000', 'ctx', 'folder'], ['120000', 'ctx', 'link']];

test("clones a commit without any of Git's files", async () => {
  const commit = repository('plain', [dockerfile, ['40000', 'ctx', 'folder']]);
  const { code, reported, workspace } = await clone('plain', commit, config());
  expect(reported).toContain('cloned 2 files');
  expect(code).toBe(0);
  expect([existsSync(join(workspace, 'ctx/file')), existsSync(join(workspace, '.git'))]).toEqual([true, false]);
});

test('fetches again after a lost connection', async () => {
  const commit = repository('lost', [dockerfile, ['40000', 'ctx', 'folder']]);
  const serve = gitHttp(() => folder);
  let posts = 0;
  const flaky = createServer((request, response) => {
    if (request.method === 'POST') posts++;
    if (request.method !== 'POST' || posts > 1) serve(request, response);
    // An incomplete packet, so that Git reports the lost connection even if it notices it late.
    else response.writeHead(200).write('0032', () => void request.socket.destroy());
  });
  await new Promise<void>((resolve) => flaky.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(flaky.address() as AddressInfo).port}`;
  try {
    const { code, reported } = await clone(
      'lost',
      commit,
      gitConfig({ origin: at, address: '127.0.0.1' }, undefined),
      at,
    );
    expect(reported).toContain('fetching again in 1 s');
    expect([code, posts > 1]).toEqual([0, true]);
  } finally {
    flaky.close();
  }
});

test('does not repeat what fails in the same way again', async () => {
  const { code, reported } = await clone('missing', 'a'.repeat(40), config());
  expect([code, reported]).toEqual([128, expect.not.stringContaining('again')]);
});

test('refuses a folder that exists again as a link', async () => {
  const { code, reported } = await clone('twice', repository('twice', twice), config());
  expect(reported).toContain('duplicateEntries');
  expect(code).not.toBe(0);
});

test.each([
  ['after it came through as a link', 'unchecked', twice],
  ['that is a link', 'link', [dockerfile, ['120000', 'ctx', 'link']] satisfies Parameters<typeof repository>[1]],
])('refuses the build context %s, whatever git reports', async (_what, name, entries) => {
  const lenient = config().replace('fsckObjects = true', 'fsckObjects = false');
  const { code, reported } = await clone(name, repository(name, entries), lenient);
  expect(reported).toContain('fatal: ctx passes through ctx, which is not a folder');
  expect(code).not.toBe(0);
});

test('starts no program of its own for a commit without links', async () => {
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await writeFile(join(programs, 'node'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const path = process.env['PATH'] ?? '';
  process.env['PATH'] = `${programs}:${path}`;
  try {
    const without = repository('without', [dockerfile, ['40000', 'ctx', 'folder']]);
    expect(await clone('without', without, config())).toMatchObject({ code: 0 });
    const outside = repository('outside', [dockerfile, ['40000', 'ctx', 'folder']]);
    expect(await clone('outside', outside, config(), origin, ['ctx/../..'])).toMatchObject({ code: 3 });
    const elsewhere = repository('elsewhere', [dockerfile, ['40000', 'ctx', 'folder'], ['120000', 'other', 'link']]);
    expect(await clone('elsewhere', elsewhere, config())).toMatchObject({ code: 3 });
  } finally {
    process.env['PATH'] = path;
  }
});

test('clones a tree as old clients wrote it', async () => {
  const commit = repository('old', [dockerfile, ['040000', 'ctx', 'folder']]);
  expect(await clone('old', commit, config())).toMatchObject({ code: 0 });
});

test('trusts only the authorities beside the configuration', async () => {
  const { ca, server: pair } = await issueCertificates('localhost', new Date());
  const tls = createTlsServer(
    { cert: pair.certificate, key: pair.key },
    gitHttp(() => folder),
  );
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  const at = `https://localhost:${(tls.address() as AddressInfo).port}`;
  const commit = repository('tls', [dockerfile, ['40000', 'ctx', 'folder']]);
  const pinned = gitConfig({ origin: at, address: '127.0.0.1' }, undefined);
  try {
    const stranger = await clone('tls', commit, pinned, at);
    expect(stranger).toMatchObject({ code: 128 });
    expect(stranger.reported).toMatch(/certificate/);
    await rm(stranger.workspace, { recursive: true });
    await writeFile(join(folder, CA_FILE), ca);
    expect(await clone('tls', commit, pinned, at)).toMatchObject({ code: 0 });
  } finally {
    await rm(join(folder, CA_FILE), { force: true });
    tls.close();
  }
});

describe('a command that waits for the clone', () => {
  const waiting = (name: string) => {
    const env = { PATH: process.env['PATH'], WORKSPACE: workspaceOf(name) };
    return endOf(spawn('sh', ['-c', AFTER_CLONE, 'sh', 'echo', 'a  word'], { env }));
  };

  test('runs once the clone has succeeded', async () => {
    const commit = repository('waited', [dockerfile, ['40000', 'ctx', 'folder']]);
    const both = [waiting('waited'), waiting('waited')];
    expect(existsSync(`${workspaceOf('waited')}.cloned`)).toBe(false);
    await clone('waited', commit, config());
    expect(await Promise.all(both)).toEqual(Array(2).fill({ code: 0, reported: 'a  word\n' }));
    expect(await waiting('waited')).toEqual({ code: 0, reported: 'a  word\n' });
  });

  test('does not run after a failed clone', async () => {
    const waits = waiting('refused');
    await clone('refused', repository('refused', twice), config());
    expect(await waits).toEqual({ code: NOT_CLONED, reported: '' });
  });

  test('does not run after a clone that was killed', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const asked = once(silent, 'request');
    const waits = waiting('killed');
    const at = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const child = await startClone('killed', 'c0ffee', gitConfig({ origin: at, address: '127.0.0.1' }, undefined), at);
    await asked;
    process.kill(-child.pid!, 'SIGKILL');
    silent.closeAllConnections();
    silent.close();
    expect(await waits).toEqual({ code: NOT_CLONED, reported: '' });
  });
});
