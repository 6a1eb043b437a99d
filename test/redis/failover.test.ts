// A replicated Redis behind one address, as managed services and Redis operators offer it: redis.externalUrl.
import { randomBytes, randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Sessions } from '../../api/auth/sessions.ts';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { LogReader } from '../../build-logs/reader.ts';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { connectRedis, withBuffers, type Redis } from '../../process/redis-connection.ts';
import { startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

let [primary, replica]: [TestRedis?, TestRedis?] = [];
let target = 0;
const clients: Redis[] = [];
/** Connections stay with the server that they were opened to, as with a DNS name that moves. */
const address = net.createServer((client) => {
  const server = net.connect(target, '127.0.0.1');
  for (const socket of [client, server]) socket.on('error', () => undefined);
  client.on('close', () => server.destroy()).pipe(server);
  server.on('close', () => client.destroy()).pipe(client);
});

function server(role: 'primary' | 'replica'): TestRedis {
  const found = role === 'primary' ? primary : replica;
  if (!found) throw new Error(`the ${role} was not started`);
  return found;
}

beforeAll(async () => {
  [primary, replica] = await Promise.all([startRedis(), startRedis()]);
  target = primary.port;
  await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  address.close();
  await Promise.all([primary?.stop(), replica?.stop()]);
});

/** Connects as Coppice's processes do. */
async function connect(): Promise<Redis> {
  const listening = address.address();
  if (listening === null || typeof listening === 'string') throw new Error('the address is not listening');
  const client = connectRedis({ url: `redis://127.0.0.1:${listening.port}` }, silentLogger);
  clients.push(client);
  while (!client.isReady) await delay(10);
  return client;
}

/** Repeats what is refused while Redis fails over, as callers of the API do after a 503. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(100);
    }
  }
}

test('follows the address to the new primary, while the old one keeps its connections as a replica', async () => {
  const [old, next] = await Promise.all([server('primary').connect(), server('replica').connect()]);
  await next.replicaOf('127.0.0.1', server('primary').port);
  const [commands, subscriber] = await Promise.all([connect(), connect()]);
  const sessions = new Sessions(commands, Date.now, randomBytes);
  const token = await sessions.create({ userName: 'user-1', accountId: 'a' });
  const logId = `${randomUUID()}/1`;
  const line = (text: string) => ({ service: 'web', stage: 'build', time: '2026-11-21T10:00:00.1Z', line: text });
  const writer = await BuildLogWriter.open(commands, logId);
  await writer.append('build-web', [line('before')]);
  const reader = new LogReader({ redis: withBuffers(commands), subscriber, onRedisError: () => undefined });
  const pages = reader.read(buildLogKeys(logId), { signal: AbortSignal.timeout(50_000) });
  expect((await pages.next()).value).toMatchObject({ first: 1, last: 1 });
  while ((await next.exists(buildLogKeys(logId).stream)) === 0) await delay(10);
  await old.wait(1, 5000);

  await next.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  target = server('replica').port;
  await old.replicaOf('127.0.0.1', server('replica').port);

  expect(await sessions.find(token)).toEqual({ userName: 'user-1', accountId: 'a' });
  await eventually(() => writer.append('build-web', [line('after')]));
  await eventually(() => writer.end('succeeded', ''));
  const seen: number[] = [];
  for await (const page of pages) seen.push(page.first, page.last);
  expect(seen.at(-1)).toBe(3);
  expect(seen[0]).toBe(2);
  const later = await eventually(() => sessions.create({ userName: 'user-2', accountId: 'b' }));
  expect(await new Sessions(next, Date.now, randomBytes).find(later)).toMatchObject({ userName: 'user-2' });
});
