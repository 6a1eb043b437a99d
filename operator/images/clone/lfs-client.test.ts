import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { LfsClient } from './lfs-client.ts';

const content = 'a large file';
const oid = createHash('sha256').update(content).digest('hex');
const pointer = { oid, size: content.length };

let server: Server;
let base: string;
let folder: string;
let seen: { path: string; authorization: string | undefined; body: string }[];
let objects: object[];
let batchStatus: number;

function authorizationOf(headers: IncomingHttpHeaders): string | undefined {
  return headers.authorization;
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? '';
      seen.push({ path, authorization: authorizationOf(request.headers), body });
      if (path.endsWith('/info/lfs/objects/batch')) response.writeHead(batchStatus).end(JSON.stringify({ objects }));
      else if (path === '/object') response.end(content);
      else if (path === '/other') response.end('another file');
      else if (path === '/longer') response.end(`${content} and more`);
      else response.writeHead(path === '/redirect' ? 302 : 404, { location: '/object' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'lfs-'));
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  seen = [];
  batchStatus = 200;
  objects = [{ oid, size: content.length, actions: { download: { href: `${base}/object` } } }];
});

function client(allowed = true, ports = [Number(new URL(base).port)]) {
  const rules = { isAddressAllowed: () => allowed, ports, sshPorts: [] };
  return new LfsClient({ origin: `${base}/acme/shop`, authorization: 'Basic x', rules });
}

test("derives the server from the repository's address, and sends its credentials", async () => {
  const found = await client().locate([pointer]);
  expect(found.get(oid)).toEqual({ href: `${base}/object`, header: {} });
  expect(seen).toEqual([
    { path: '/acme/shop.git/info/lfs/objects/batch', authorization: 'Basic x', body: expect.stringContaining(oid) },
  ]);
});

test('reports an object that the server does not have', async () => {
  objects = [{ oid, error: { code: 404, message: 'no such object' } }];
  await expect(client().locate([pointer])).rejects.toThrow(/404 no such object/);
});

test.each([
  [404, 'has no Git LFS for this repository (404). Enable it there'],
  [502, 'did not respond with files of Git LFS, but with status 502'],
])('reports a server that answers %d', async (status, words) => {
  batchStatus = status;
  await expect(client().locate([pointer])).rejects.toThrow(words);
});

describe('download', () => {
  const get = async (path: string, header = {}, to = 'file') => {
    const file = join(folder, to);
    if (to === 'file') await writeFile(file, 'pointer');
    await client().download({ href: `${base}${path}`, header }, pointer, file);
    return readFile(file, 'utf8');
  };

  test('replaces the pointer', async () => {
    expect(await get('/object')).toBe(content);
    expect(seen[0]?.authorization).toBe('Basic x');
  });

  test('sends the headers of the download in place of the credentials', async () => {
    await get('/object', { Authorization: 'Bearer y' });
    expect(seen[0]?.authorization).toBe('Bearer y');
  });

  test.each([
    ['/other', /a file other than/],
    ['/longer', /more than the 12 expected bytes/],
    ['/redirect', /responded with status 302/],
    ['/missing', /responded with status 404/],
  ])('refuses %s', async (path, words) => {
    await expect(get(path)).rejects.toThrow(words);
  });

  test('follows no symbolic link', async () => {
    await writeFile(join(folder, 'target'), 'untouched');
    await symlink(join(folder, 'target'), join(folder, 'link'));
    await expect(get('/object', {}, 'link')).rejects.toThrow();
    expect(await readFile(join(folder, 'target'), 'utf8')).toBe('untouched');
  });
});

test.each([
  ['an address that is not allowed', () => client(false), /private or reserved/],
  ['a port that is not allowed', () => client(true, [443]), /not an address that Coppice connects to/],
])('does not connect to %s', async (_what, make, words) => {
  await expect(make().locate([pointer])).rejects.toThrow(words);
  await expect(make().download({ href: `${base}/object`, header: {} }, pointer, join(folder, 'file'))).rejects.toThrow(
    words,
  );
  expect(seen).toEqual([]);
});
