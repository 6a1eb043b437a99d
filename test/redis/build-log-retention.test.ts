import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { BuildLogRetention, type RetentionBudget } from '../../build-logs/retention.ts';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

let server: TestRedis;
let redis: RedisClient;
let now = new Date('2026-11-21T10:00:00Z');

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());

const retentionOf = (budget: Partial<RetentionBudget>) =>
  new BuildLogRetention(redis, { buildsPerEnvironment: 100, totalBytes: 1e9, ...budget }, () => now);

async function writeLog(retention: BuildLogRetention, uid: string, build: number, bytes = 10): Promise<void> {
  const writer = await BuildLogWriter.open(redis, `${uid}/${build}`);
  await writer.append('build-web', [{ service: 'web', stage: 'build', line: 'x'.repeat(bytes) }]);
  await writer.end('succeeded', '');
  now = new Date(now.getTime() + 1000);
  await retention.ended(uid, build);
}

/** Returns the numbers of the builds that have a log. */
async function kept(uid: string, upTo = 20): Promise<number[]> {
  const numbers = Array.from({ length: upTo }, (_, index) => index + 1);
  const found = await Promise.all(
    numbers.map(async (number) => {
      const { stream, state } = buildLogKeys(`${uid}/${number}`);
      const count = await redis.exists([stream, state]);
      expect([0, 2]).toContain(count);
      return count === 2 ? [number] : [];
    }),
  );
  return found.flat();
}

test('keeps the last builds of each environment', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  const retention = retentionOf({ buildsPerEnvironment: 3 });
  await writeLog(retention, other, 1);
  for (const build of [1, 2, 3, 5, 6]) await writeLog(retention, one, build);
  expect(await kept(one)).toEqual([5, 6]);
  expect(await kept(other)).toEqual([1]);
});

test('keeps the newest of all logs, and always the last one', async () => {
  await redis.flushAll();
  const uids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
  const retention = retentionOf({ totalBytes: 3000 });
  for (const uid of uids) await writeLog(retention, uid, 1, 1000);
  expect(await Promise.all(uids.map((uid) => kept(uid)))).toEqual([[], [], [1], [1]]);
  await writeLog(retention, uids[0], 2, 9000);
  expect(await Promise.all(uids.map((uid) => kept(uid)))).toEqual([[2], [], [], []]);
  await writeLog(retention, uids[1], 2, 1000);
  expect(await Promise.all(uids.map((uid) => kept(uid)))).toEqual([[], [2], [], []]);
});

test("drops a tenant's own logs when it has most, not the oldest of all", async () => {
  await redis.flushAll();
  const tenants = new Map<string, string>(['quiet', 'noisy', 'noisy', 'noisy'].map((name) => [randomUUID(), name]));
  const retention = new BuildLogRetention(
    redis,
    { buildsPerEnvironment: 100, totalBytes: 35_000 },
    () => now,
    (uid) => tenants.get(uid) ?? uid,
  );
  for (const uid of tenants.keys()) await writeLog(retention, uid, 1, 10_000);
  expect(await Promise.all([...tenants.keys()].map((uid) => kept(uid)))).toEqual([[1], [], [1], [1]]);
});

test('counts a log that is recorded twice once', async () => {
  await redis.flushAll();
  const [one, other] = [randomUUID(), randomUUID()];
  const retention = retentionOf({ totalBytes: 3000 });
  await writeLog(retention, one, 1, 1000);
  for (let time = 0; time < 5; time++) await retention.ended(one, 1);
  await writeLog(retention, other, 1, 1000);
  expect([await kept(one), await kept(other)]).toEqual([[1], [1]]);
});

test('removes the logs of a deleted environment, and their size', async () => {
  await redis.flushAll();
  const [one, other] = [randomUUID(), randomUUID()];
  const retention = retentionOf({});
  for (const build of [1, 2, 3]) await writeLog(retention, one, build);
  await writeLog(retention, other, 1);
  await retention.forget(one, 3);
  expect([await kept(one), await kept(other)]).toEqual([[], [1]]);
  await retention.forget(other, 1);
  expect((await redis.keys('*')).sort()).toEqual(['build-logs:total']);
  expect(await redis.get('build-logs:total')).toBe('0');
});

test('no longer counts logs that are a week old', async () => {
  await redis.flushAll();
  const [one, other] = [randomUUID(), randomUUID()];
  const retention = retentionOf({});
  await writeLog(retention, one, 1);
  now = new Date(now.getTime() + 8 * 24 * 3600 * 1000);
  await writeLog(retention, other, 1);
  expect([await kept(one), await kept(other)]).toEqual([[], [1]]);
});

test('sweeps expired logs, those above the budget, and those of environments that are gone', async () => {
  await redis.flushAll();
  const [expired, gone, old, left] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const retention = retentionOf({});
  await writeLog(retention, expired, 1);
  now = new Date(now.getTime() + 4 * 24 * 3600_000);
  for (const build of [1, 2]) await writeLog(retention, gone, build);
  await writeLog(retention, old, 1, 3000);
  await writeLog(retention, left, 1, 1000);
  now = new Date(now.getTime() + 4 * 24 * 3600_000);
  const exists = (uid: string) => uid !== gone;
  expect(await retention.sweep(exists)).toEqual({ dropped: 3, left: 2 });
  expect(await retentionOf({ totalBytes: 3000 }).sweep(exists)).toEqual({ dropped: 1, left: 1 });
  expect(await Promise.all([expired, gone, old, left].map((uid) => kept(uid)))).toEqual([[], [], [], [1]]);
  expect(await retention.sweep(() => false)).toEqual({ dropped: 1, left: 0 });
  expect(await redis.keys('build-log*')).toEqual(['build-logs:total']);
});
