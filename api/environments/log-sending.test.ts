import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { LogPage } from '../../build-logs/page.ts';
import { PacedSender, sendPages } from './log-sending.ts';

const kib = 1024;

/** A WebSocket whose peer answers pings when the test lets it. */
class FakeSocket extends EventEmitter {
  sentBytes = 0;
  isTerminated = false;
  readonly pings: Buffer[] = [];

  send(frame: Buffer | string): void {
    this.sentBytes += frame.length;
  }

  ping(data: Buffer): void {
    this.pings.push(data);
  }

  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }

  pong(data: Buffer | undefined = this.pings.shift()): void {
    this.emit('pong', data ?? Buffer.alloc(0));
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Sends 32 frames of 32 KiB, 1 MiB in all. */
function sending(socket = new FakeSocket()) {
  const closed = new AbortController();
  const sender = new PacedSender(socket);
  const sent = (async () => {
    for (let i = 0; i < 32 && !closed.signal.aborted; i += 1) await sender.send(Buffer.alloc(32 * kib), closed.signal);
  })();
  return { socket, sent, close: () => closed.abort() };
}

test('sends no more than 256 KiB ahead of the last pong', async () => {
  const { socket, sent } = sending();
  await settled();
  expect(socket.sentBytes).toBe(256 * kib);
  socket.pong();
  await settled();
  expect(socket.sentBytes).toBe(320 * kib);
  while (socket.pings.length > 0) {
    socket.pong();
    await settled();
  }
  await sent;
  expect(socket.sentBytes).toBe(1024 * kib);
});

test('counts a pong as confirmation of all pings before it', async () => {
  const { socket } = sending();
  await settled();
  socket.pong(socket.pings.at(-1));
  await settled();
  expect(socket.sentBytes).toBe(512 * kib);
});

test.each([
  ['of a keep-alive ping', Buffer.alloc(0)],
  ['that was guessed', Buffer.from('1')],
])('ignores a pong %s', async (_what, data) => {
  const { socket } = sending();
  await settled();
  for (let i = 0; i < 10; i += 1) socket.pong(data);
  await settled();
  expect(socket.sentBytes).toBe(256 * kib);
});

test('sends nothing after the connection has closed', async () => {
  const { socket, sent, close } = sending();
  await settled();
  close();
  await sent;
  expect(socket.sentBytes).toBe(256 * kib);
});

test('closes the connection of a reader that reads nothing until the timeout', async () => {
  const socket = new FakeSocket();
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  async function* pages(): AsyncGenerator<Pick<LogPage, 'frames'>> {
    for (;;) yield await Promise.resolve({ frames: () => [Buffer.alloc(32 * kib)] });
  }
  await sendPages(socket, pages(), { signal: closed.signal, stallTimeoutMs: 20 });
  expect(socket.isTerminated).toBe(true);
  expect(socket.sentBytes).toBe(256 * kib);
});
