import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { cutIfClosing, readDeadlineMs, releaseWhenRead } from './unread-answers.ts';

const kibibyte = 1024;
/** The kernel buffers all of it although the client reads nothing. */
const large = 512 * kibibyte;

let server: Server;
let released: string[];
let finished: string[];
let handled: string[];

beforeEach(async () => {
  released = [];
  finished = [];
  handled = [];
  server = createServer((request, response) => {
    const { url = '' } = request;
    if (cutIfClosing(request)) return;
    handled.push(url);
    const bytes = Number(url.split('/')[1]);
    releaseWhenRead({ request, response }, bytes, () => void released.push(url));
    response.once('finish', () => void finished.push(url));
    if (url.endsWith('/open')) response.write('x');
    else response.end(Buffer.alloc(bytes, 'x'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  jest.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Requests a response of this length, and reads nothing until resume(). */
async function ask(bytes: number | string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause().on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /${bytes} HTTP/1.1\r\nhost: x\r\n\r\n`);
  return socket;
}

async function until(isReached: () => boolean): Promise<void> {
  for (let attempt = 0; !isReached() && attempt < 500; attempt++) await pause(20);
  expect(isReached()).toBe(true);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('counts a response that the kernel buffers until the client has read it', async () => {
  const socket = await ask(large);
  await until(() => finished.length === 1);
  await pause(100);
  expect(released).toEqual([]);
  let read = '';
  socket.on('data', (data: Buffer) => (read += data.toString('latin1'))).resume();
  await until(() => released.length === 1);
  expect(read).toMatch(/^Connection: close\r$/m);
  expect(read.endsWith('x'.repeat(large))).toBe(true);
});

test('releases an unread response when the client disconnects', async () => {
  const socket = await ask(large);
  await until(() => finished.length === 1);
  socket.destroy();
  await until(() => released.length === 1);
});

test('releases a response that has not ended when the client disconnects', async () => {
  const socket = await ask(`${large}/open`);
  await until(() => handled.length === 1);
  await pause(50);
  socket.end();
  await until(() => released.length === 1);
});

test('resets the connection of a client that does not read', async () => {
  jest.useFakeTimers({ doNotFake: ['Date', 'performance'] });
  const timers = setImmediateUntil();
  const socket = await ask(large);
  await timers(() => finished.length === 1);
  const failed = once(socket, 'error');
  jest.advanceTimersByTime(readDeadlineMs(large) - 1);
  await timers(() => true);
  expect(released).toEqual([]);
  jest.advanceTimersByTime(1);
  await timers(() => released.length === 1);
  socket.resume();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
});

/** Waits without the faked timers. */
function setImmediateUntil(): (isReached: () => boolean) => Promise<void> {
  return async (isReached) => {
    for (let attempt = 0; attempt < 100_000; attempt++) {
      if (isReached()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error('gave up waiting');
  };
}

test('resets a connection that sends a request after its last response', async () => {
  const socket = await ask(large);
  await until(() => finished.length === 1);
  socket.write('GET /1 HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(() => released.length === 1);
  expect(handled).toEqual([`/${large}`]);
});

test('keeps the connection open after a short response', async () => {
  const socket = await ask(kibibyte);
  await until(() => released.length === 1);
  socket.write(`GET /${2 * kibibyte} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await until(() => released.length === 2);
  socket.destroy();
});

test('gives a longer response more time', () => {
  expect([0, 64 * kibibyte, 4 * 1024 * kibibyte].map(readDeadlineMs)).toEqual([10_000, 11_000, 74_000]);
});
