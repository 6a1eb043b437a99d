import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { shakeHands } from '../../../waker-protocol/handshake.ts';
import { jsonLines, sendLine } from '../../../waker-protocol/lines.ts';
import type { KnownEnvironment } from '../../../waker-protocol/messages.ts';
import { WakerBoard } from './waker-board.ts';
import { WakerLinks } from './waker-links.ts';

const logger = { info: () => undefined, warn: () => undefined };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'coppice-waker-1', namespace: 'coppice-system', uid: 'u1' },
  status: { podIP: '127.0.0.1', phase: 'Running' },
};
const shop: KnownEnvironment = {
  ...{ key: 'group-a/shop', id: 'a.shop', mode: 'asleep', wakeOn: 'visit', panelUrl: '', hosts: {}, services: [] },
  backends: {},
};

let server: Server | undefined;
let links: WakerLinks | undefined;
afterEach(async () => {
  links?.stop();
  const closing = server;
  await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)));
});

/** Starts a waker that has this key; returns what it receives, and its connections. */
async function waker(key: string, board: WakerBoard, isComplete = () => true) {
  const received: unknown[] = [];
  const sockets: Socket[] = [];
  const visits: string[] = [];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    void (async () => {
      const lines = jsonLines(socket);
      await shakeHands('waker', socket, lines, key);
      for await (const line of lines) received.push(line);
    })().catch(() => socket.destroy());
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  const pods = { list: () => [pod], get: () => pod, addHandler: () => () => undefined };
  const onVisit = (visited: string) => void visits.push(visited);
  links = new WakerLinks({ pods, board, key: 'k', onVisit, isComplete, port, logger });
  links.start();
  return { received, sockets, visits };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let left = 300; left > 0 && !isTrue(); left--) await delay(10);
  expect(isTrue()).toBe(true);
}

test('reports what the board has, then its changes, and receives visits', async () => {
  const board = new WakerBoard();
  board.publish(shop);
  const { received, sockets, visits } = await waker('k', board);
  await until(() => received.length === 2);
  expect(received).toEqual([
    { type: 'environment', environment: shop },
    { type: 'synced', isComplete: true },
  ]);
  board.publish({ ...shop });
  board.publish({ ...shop, mode: 'waking' });
  board.forget(shop.key);
  await until(() => received.length === 4);
  expect(received.slice(2)).toEqual([
    { type: 'environment', environment: { ...shop, mode: 'waking' } },
    { type: 'gone', key: shop.key },
  ]);
  for (const socket of sockets) sendLine(socket, { type: 'visit', key: shop.key });
  await until(() => visits.length === 1);
});

test('connects again, and reports everything again', async () => {
  const board = new WakerBoard();
  board.publish(shop);
  const { received, sockets } = await waker('k', board);
  await until(() => received.length === 2);
  sockets[0]?.destroy();
  await until(() => received.length === 4);
  expect(received[2]).toEqual({ type: 'environment', environment: shop });
});

test('reports nothing to a stranger at the address of a waker', async () => {
  const board = new WakerBoard();
  board.publish(shop);
  const { received, sockets } = await waker('other', board);
  await until(() => sockets.length > 0);
  await delay(100);
  expect(received).toEqual([]);
});

test('reports that it is in sync only once the board is complete', async () => {
  let isComplete = false;
  const { received, sockets } = await waker('k', new WakerBoard(), () => isComplete);
  await until(() => sockets.length > 0);
  await delay(300);
  expect(received).toEqual([]);
  isComplete = true;
  await until(() => received.length === 1);
});
