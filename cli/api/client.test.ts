import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Client } from './client.ts';

test('reports once that the server cannot be reached, and continues', async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    if (requests <= 3) request.socket.destroy();
    else response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const notes: string[] = [];
  try {
    expect(await new Client({ url }, (message) => notes.push(message)).get('/api/x')).toEqual({});
    expect(notes).toEqual([`${url} cannot be reached, trying again`]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
