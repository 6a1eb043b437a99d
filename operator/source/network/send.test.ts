import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSend } from './send.ts';

let server: Server;
let port: number;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    else if (request.url === '/long') response.end('x'.repeat(100_000));
    else if (request.url === '/slow') response.writeHead(200).flushHeaders();
    else response.writeHead(200, { 'x-a': 'b' }).end(request.method);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const get = (path: string, host = '127.0.0.1') => ({
  method: 'GET' as const,
  url: new URL(`http://${host}:${port}${path}`),
  headers: {},
});

test('returns status, headers and body, also of a redirect', async () => {
  const send = createSend({ timeoutMs: 2000 });
  expect(await send(get('/'))).toMatchObject({ status: 200, headers: { 'x-a': 'b' }, body: 'GET' });
  expect(await send(get('/redirect'))).toMatchObject({ status: 302 });
});

test.each(['127.0.0.1', 'localhost'])('does not connect to %s when its address is not permitted', async (host) => {
  const before = asked;
  const send = createSend({ timeoutMs: 2000, isAddressAllowed: () => false });
  await expect(send(get('/', host))).rejects.toThrow(/private or reserved address/);
  expect(asked).toBe(before);
});

test('passes the host of an address to the guard', async () => {
  const hosts: string[] = [];
  const isAddressAllowed = (host: string) => hosts.push(host) > 0;
  await createSend({ timeoutMs: 2000, isAddressAllowed })(get('/', 'localhost'));
  expect(new Set(hosts)).toEqual(new Set([`localhost:${port}`]));
});

test('throws for responses that are too large or too late', async () => {
  await expect(createSend({ timeoutMs: 2000, maxBytes: 1000 })(get('/long'))).rejects.toThrow(/exceeds 1000 bytes/);
  await expect(createSend({ timeoutMs: 100 })(get('/slow'))).rejects.toThrow();
});
