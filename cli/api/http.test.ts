import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { exchange, textOf } from './http.ts';

const { globalAgent } = http;
let server: http.Server;
let url: URL;
let connections: number;

beforeEach(async () => {
  connections = 0;
  server = http.createServer((_request, response) => response.end('{}'));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
afterEach(() => {
  http.globalAgent = globalAgent;
  server.close();
  server.closeAllConnections();
});

const answered = async (method: string) => textOf(await exchange(url, { method, headers: {}, idleMs: 10_000 }));

test('has the whole time for connecting, not that of unused connections', async () => {
  http.globalAgent = new http.Agent({ keepAlive: true, timeout: 50 });
  const answer = answered('GET');
  // While this blocks, nothing can connect.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
  expect(await answer).toBe('{}');
});

test('reads on idle connections, and writes on new ones', async () => {
  const counts: number[] = [];
  for (const method of ['GET', 'GET', 'POST', 'PATCH', 'GET']) {
    await answered(method);
    // Only then can the connection of a read be used again.
    await new Promise(setImmediate);
    counts.push(connections);
  }
  expect(counts).toEqual([1, 1, 2, 3, 3]);
});
