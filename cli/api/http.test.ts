import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { exchange, textOf } from './http.ts';

const { globalAgent } = http;
afterEach(() => {
  http.globalAgent = globalAgent;
});

test('has the whole time for connecting, not that of unused connections', async () => {
  http.globalAgent = new http.Agent({ keepAlive: true, timeout: 50 });
  const server = http.createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const answer = exchange(new URL(`http://127.0.0.1:${port}/`), { method: 'GET', headers: {}, idleMs: 10_000 });
    // While this blocks, nothing can connect.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
    expect(await textOf(await answer)).toBe('{}');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
