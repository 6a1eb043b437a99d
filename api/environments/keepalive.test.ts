import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { WebSocketServer, type WebSocket } from 'ws';
import { keepAlive } from './keepalive.ts';

const intervalMs = 50;
/** Masked, without a payload (RFC 6455, 5.5.3). */
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const isPing = (chunk: Buffer) => chunk[0] === 0x89;

let server: WebSocketServer;
let client: Socket;

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const handshake = ['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13'];
  const key = `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}`;
  client.write(['GET / HTTP/1.1', 'host: x', ...handshake, key, '', ''].join('\r\n'));
  client.on('error', () => undefined);
  const [webSocket, request] = (await once(server, 'connection')) as [WebSocket, IncomingMessage];
  keepAlive(webSocket, request.socket, intervalMs);
});
afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Calls `act` at each ping; returns how many there were until the server closed the connection, or `max`. */
async function pings(max: number, act: () => void): Promise<number> {
  let count = 0;
  const enough = new Promise<void>((resolve) => {
    client.on('data', (chunk: Buffer) => {
      if (!isPing(chunk)) return;
      count += 1;
      act();
      if (count === max) resolve();
    });
  });
  const closed = new Promise((resolve) => client.once('close', resolve));
  await Promise.race([enough, closed]);
  return count;
}

function beBusy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('closes the connection of a client that does not answer', async () => {
  expect(await pings(3, () => undefined)).toBe(1);
});

test('reads an answer that arrived while the process was busy', async () => {
  const answer = () => {
    // The kernel takes it at once; this process reads it after the timers that are due by then.
    client.write(pong);
    beBusy(3 * intervalMs);
  };
  expect(await pings(3, answer)).toBe(3);
});
