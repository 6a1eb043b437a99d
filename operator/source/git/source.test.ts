import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { HostBusyError, HostTimeoutError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import type { Source } from './source.ts';
import { gitHttp } from './testing/git-http.ts';
import { sourceAt } from './testing/source-at.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-source-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '--quiet', '--bare', 'shop.git');
  const tree = git('-C', 'shop.git', 'hash-object', '-t', 'tree', '-w', '/dev/null').toString().trim();
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const commit = git('-C', 'shop.git', ...identity, 'commit-tree', '-m', 'first', tree)
    .toString()
    .trim();
  git('-C', 'shop.git', 'update-ref', 'refs/heads/main', commit);
  git('-C', 'shop.git', 'update-ref', 'refs/tags/tree', tree);
  const file = git('-C', 'shop.git', 'hash-object', '-w', '/dev/null').toString().trim();
  git('-C', 'shop.git', 'update-ref', 'refs/tags/file', file);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = <T>(listener: RequestListener, read: (source: Source, origin: string) => Promise<T>, timeoutMs?: number) =>
  sourceAt(folder, listener, read, timeoutMs);
const list = (source: Source, origin: string) => source.listRefs({ origin, credentials: undefined });

test('lists the refs of a server that speaks Git', async () => {
  expect([
    ...(
      await at(
        gitHttp(() => folder),
        list,
      )
    ).branches.keys(),
  ]).toEqual(['main']);
});

test.each(['tree', 'file'])('refuses a tag that names a %s, with that reason', async (name) => {
  const read = (source: Source, origin: string) =>
    source.snapshot({ access: { origin, credentials: undefined }, refName: `refs/tags/${name}` }, () =>
      Promise.resolve(),
    );
  const answer = at(
    gitHttp(() => folder),
    read,
  );
  await expect(answer).rejects.toMatchObject({
    name: 'SourceRefusedError',
    reason: 'NotACommit',
    message: expect.stringContaining('points to a tree or a file'),
  });
});

/** Returns the arguments of every running process. */
function argumentsOfAll(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        return [readFileSync(`/proc/${id}/cmdline`, 'utf8')];
      } catch {
        return []; // The process has ended.
      }
    });
}

test('passes no password in the arguments of a process', async () => {
  const credentials = { username: 'reader', password: `a "quoted" p@ss ${randomUUID()}` };
  const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  const serve = gitHttp(() => folder);
  const seen = new Set<string>();
  const observe = () => argumentsOfAll().forEach((text) => seen.add(text));
  const observed: RequestListener = (request, response) => {
    // Git waits for the answer, and reads it later, so its processes run in both moments.
    observe();
    response.once('finish', observe);
    if (request.headers.authorization === `Basic ${basic}`) serve(request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  };
  const origins: string[] = [];
  await at(observed, async (source, origin) => {
    origins.push(origin);
    const access = { origin, credentials };
    expect([...(await source.listRefs(access)).branches.keys()]).toEqual(['main']);
    await source.snapshot({ access, refName: 'refs/heads/main' }, () => Promise.resolve());
  });
  const of = (word: string) => [...seen].filter((text) => text.includes(word));
  // Git's own processes were among the observed ones.
  expect(of(origins[0] ?? '-').length).toBeGreaterThan(1);
  for (const word of [credentials.password, encodeURIComponent(credentials.password), basic]) {
    expect(of(word)).toEqual([]);
  }
});

test('reads a file of a commit with seven git processes', async () => {
  const programs = mkdtempSync(join(tmpdir(), 'coppice-programs-'));
  const [path, asked] = [process.env['PATH'] ?? '', join(programs, 'asked')];
  writeFileSync(join(programs, 'git'), `#!/bin/sh\necho "$@" >> ${asked}\nPATH=${path}\nexec git "$@"\n`, {
    mode: 0o755,
  });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' }).toString().trim();
  const blob = git('-C', 'shop.git', 'hash-object', '-w', '-t', 'blob', join(import.meta.dirname, 'source.ts'));
  const tree = execFileSync('git', ['-C', 'shop.git', 'mktree'], {
    cwd: folder,
    input: `100644 blob ${blob}\tcompose.yaml\n`,
  });
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const commit = git('-C', 'shop.git', ...identity, 'commit-tree', '-m', 'second', tree.toString().trim());
  git('-C', 'shop.git', 'update-ref', 'refs/heads/one-file', commit);
  const serve = gitHttp(() => folder);
  try {
    process.env['PATH'] = `${programs}:${path}`;
    const location = (origin: string) => ({
      access: { origin, credentials: undefined },
      refName: 'refs/heads/one-file',
    });
    const found = await at(serve, (source, origin) =>
      source.snapshot(location(origin), async ({ commit: id, author, subject, entries, files }) => ({
        ...{ id, author, subject },
        paths: entries.map(({ path: one }) => one),
        text: (await files.read('compose.yaml')).toString('utf8'),
      })),
    );
    expect(found).toEqual({
      ...{ id: commit, author: 'a', subject: 'second' },
      paths: ['', 'compose.yaml'],
      text: readFileSync(join(import.meta.dirname, 'source.ts'), 'utf8'),
    });
  } finally {
    process.env['PATH'] = path;
  }
  const lines = readFileSync(asked, 'utf8').trim().split('\n');
  const commands = lines.map((line) => line.replace('-C repository ', '').split(' ')[0] ?? '');
  // The server's own processes are not counted.
  expect(commands.filter((command) => command !== 'http-backend')).toEqual([
    ...['init', 'fetch', 'log', 'ls-tree'],
    ...['fetch', 'cat-file', 'cat-file'],
  ]);
  rmSync(programs, { recursive: true });
});

const commit = 'a'.repeat(40);
const dumb =
  (text: string): RequestListener =>
  (request, response) => {
    const isList = request.url?.startsWith('/shop.git/info/refs') === true;
    response.writeHead(isList ? 200 : 404, { 'content-type': 'text/plain' }).end(isList ? text : '');
  };

test.each([
  ['whole', `${commit}\trefs/heads/main\n${commit}\trefs/heads/dev\n`],
  ['half', `${commit}\trefs/heads/main\n`],
  ['empty', ''],
])('refuses a list that is a plain file, %s', async (_what, text) => {
  await expect(at(dumb(text), list)).rejects.toMatchObject({
    reason: 'Refused',
    message: expect.stringContaining('dumb'),
  });
});

test('does not read a commit there either', async () => {
  const read = (source: Source, origin: string) =>
    source.snapshot({ access: { origin, credentials: undefined }, refName: 'refs/heads/main' }, () =>
      Promise.resolve(),
    );
  await expect(at(dumb(`${commit}\trefs/heads/main\n`), read)).rejects.toMatchObject({
    reason: 'Refused',
    message: expect.stringContaining('dumb'),
  });
});

const answering =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end();

test.each<[string, RequestListener, object]>([
  ['401', answering(401, { 'www-authenticate': 'Basic realm="git"' }), { reason: 'AuthenticationFailed' }],
  ['403', answering(403), { name: SourceRefusedError.name }],
  ['404', answering(404), { reason: 'NotFound' }],
  ['429', answering(429, { 'retry-after': '7' }), { name: SourceUnreachableError.name }],
  ['500', answering(500), { name: SourceUnreachableError.name }],
  [
    'a redirect to another origin',
    answering(302, { location: 'http://127.0.0.1:9/shop.git/info/refs' }),
    { reason: 'Refused' },
  ],
  [
    'half an answer',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      response.write('001e# service=git-upload-pack\n0000003f');
      setTimeout(() => response.destroy(), 50);
    },
    { name: SourceUnreachableError.name },
  ],
])('reports %s as such', async (_what, listener, expected) => {
  await expect(at(listener, list)).rejects.toMatchObject(expected);
});

test('reports a hang as such', async () => {
  await expect(at(() => undefined, list, 1000)).rejects.toThrow(HostTimeoutError);
});

test('does not repeat an expensive list at once, and does not delay a build', async () => {
  const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const commit = 'a'.repeat(40);
  const names = Array.from({ length: 5000 }, (_, index) => `${'x'.repeat(90)}${index}`);
  const refs = ['main', ...names].map((name) => packet(`${commit} refs/heads/${name}\n`)).join('');
  const capabilities = ['version 2\n', 'ls-refs\n', 'object-format=sha1\n'].map(packet).join('');
  const answers = { listed: 0 };
  const many: RequestListener = (request, response) => {
    const isDiscovery = request.url?.includes('info/refs');
    const type = isDiscovery ? 'advertisement' : 'result';
    response.setHeader('content-type', `application/x-git-upload-pack-${type}`);
    if (isDiscovery) return void response.end(`001e# service=git-upload-pack\n0000${capabilities}0000`);
    answers.listed += 1;
    response.end(`${refs}0000`);
  };
  await at(many, async (source, origin) => {
    const access = { origin, credentials: undefined };
    expect((await source.listRefs(access)).branches.size).toBe(5001);
    expect(source.listingWaitMs(access)).toBeGreaterThan(100);
    await expect(source.listRefs(access)).rejects.toThrow(HostBusyError);
    expect(answers.listed).toBe(1);
    expect(await source.resolve({ access, refName: 'refs/heads/main' }, { type: 'branch', name: 'main' })).toBe(commit);
  });
});
