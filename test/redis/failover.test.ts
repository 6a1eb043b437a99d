// A replicated Redis behind one address, as managed services and Redis operators offer it: redis.externalUrl.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Sessions } from '../../api/auth/sessions.ts';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { LogReader } from '../../build-logs/reader.ts';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import { withBuffers } from '../../process/redis-connection.ts';
import { eventually, movingAddress, type MovingAddress } from './moving-address.ts';
import { startRedis, type RedisClient, type TestRedis } from './start-redis.ts';
import { startSentinels, type Sentinels } from './start-sentinels.ts';

jest.setTimeout(60_000);

const servers: TestRedis[] = [];
let address: MovingAddress | undefined;
let sentinels: Sentinels | undefined;

afterEach(async () => {
  address?.close();
  await sentinels?.stop();
  sentinels = undefined;
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** Starts a primary and its replica. */
async function replicated() {
  const [primary, replica] = await Promise.all([startRedis(), startRedis()]);
  servers.push(primary, replica);
  const [old, next] = await Promise.all([primary.connect(), replica.connect()]);
  await next.replicaOf('127.0.0.1', primary.port);
  return { primary, replica, old, next };
}

const line = (text: string) => ({ service: 'web', stage: 'build', time: '2026-11-21T10:00:00.1Z', line: text });

/** Logs in and reads a log, fails over with this function, and verifies that the new primary continues. */
async function continuesAfter(
  address: MovingAddress,
  old: RedisClient,
  next: RedisClient,
  failOver: () => Promise<void>,
) {
  const [commands, subscriber] = await Promise.all([address.connect(), address.connect()]);
  const sessions = new Sessions(commands, Date.now, randomBytes);
  const token = await sessions.create({ userName: 'user-1', accountId: 'a' });
  const logId = `${randomUUID()}/1`;
  const writer = await BuildLogWriter.open(commands, logId);
  await writer.append('build-web', [line('before')]);
  const reader = new LogReader({ redis: withBuffers(commands), subscriber, onRedisError: () => undefined });
  const pages = reader.read(buildLogKeys(logId), { signal: AbortSignal.timeout(50_000) });
  expect((await pages.next()).value).toMatchObject({ first: 1, last: 1 });
  while ((await next.exists(buildLogKeys(logId).stream)) === 0) await delay(10);
  await old.wait(1, 5000);

  await failOver();

  expect(await eventually(() => sessions.find(token))).toEqual({ userName: 'user-1', accountId: 'a' });
  await eventually(() => writer.append('build-web', [line('after')]));
  await eventually(() => writer.end('succeeded', ''));
  const seen: number[] = [];
  for await (const page of pages) seen.push(page.first, page.last);
  expect(seen.at(-1)).toBe(3);
  expect(seen[0]).toBe(2);
  const later = await eventually(() => sessions.create({ userName: 'user-2', accountId: 'b' }));
  expect(await new Sessions(next, Date.now, randomBytes).find(later)).toMatchObject({ userName: 'user-2' });
}

test('follows the address to the new primary, while the old one keeps its connections as a replica', async () => {
  const { primary, replica, old, next } = await replicated();
  let target = primary.port;
  address = await movingAddress(() => Promise.resolve(target));
  await continuesAfter(address, old, next, async () => {
    await next.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    target = replica.port;
    await old.replicaOf('127.0.0.1', replica.port);
  });
});

test('continues when Sentinels have replaced a killed primary, behind a proxy that asks them', async () => {
  const { primary, replica, old, next } = await replicated();
  const watching = await startSentinels(primary.port);
  sentinels = watching;
  address = await movingAddress(watching.primary);
  await watching.ready();
  await continuesAfter(address, old, next, () => primary.kill());
  expect(await watching.primary()).toBe(replica.port);
});
