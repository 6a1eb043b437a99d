import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { Sessions } from '../../api/auth/sessions.ts';
import { LogsFullError } from '../../build-logs/append-script.ts';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { BuildLogRetention } from '../../build-logs/retention.ts';
import { RuntimeLogWriter } from '../../build-logs/runtime-writer.ts';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(120_000);

const maxMemory = 48 * 1024 * 1024;
const session = { userName: 'user-1', accountId: 'a' };

let server: TestRedis;
let redis: RedisClient;
let sessions: Sessions;
let token: string;

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
  await redis.configSet({ maxmemory: String(maxMemory), 'maxmemory-policy': 'noeviction' });
  sessions = new Sessions(redis, Date.now, randomBytes);
});
afterAll(() => server.stop());

beforeEach(async () => {
  await redis.flushAll();
  token = await sessions.create(session);
  // Counts like rate-limit-redis.
  await redis.set('coppice:limit:login:192.0.2.1', '10', { expiration: { type: 'EX', value: 60 } });
});

const mebibyte = Array.from({ length: 64 }, () => ({ service: 'web', stage: 'build', line: 'x'.repeat(16 * 1000) }));

/** Writes lines until Redis accepts no more; returns how many MiB it accepted. */
async function fill(writer: BuildLogWriter, maxMiB: number): Promise<number> {
  for (let taken = 0; taken < maxMiB; taken += 1) {
    try {
      await writer.append(`build-${Math.floor(taken / 7)}`, mebibyte);
    } catch (error) {
      if (error instanceof LogsFullError) return taken;
      throw error;
    }
  }
  return maxMiB;
}

async function usedShare(): Promise<number> {
  const used = /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1];
  return Number(used) / maxMemory;
}

/** Checks that the login and the counter exist, that new ones can be created, and that nothing was evicted. */
async function expectOthersUntouched(): Promise<void> {
  expect(await sessions.find(token)).toEqual(session);
  expect(await redis.incr('coppice:limit:login:192.0.2.1')).toBe(11);
  expect(await sessions.find(await sessions.create(session))).toEqual(session);
  expect(await redis.info('stats')).toMatch(/evicted_keys:0\b/);
}

test('stops logs of running builds at three quarters of the memory, while logins and counters continue', async () => {
  const writers = await Promise.all([1, 2, 3, 4].map((number) => BuildLogWriter.open(redis, `uid-${number}/1`)));
  const taken = await Promise.all(writers.map((writer) => fill(writer, 15)));
  const total = taken.reduce((sum, one) => sum + one, 0);
  expect(total).toBeGreaterThan(25);
  expect(total).toBeLessThan(48);
  expect(await usedShare()).toBeLessThan(0.85);
  await expectOthersUntouched();
  // What was refused is written as soon as there is room, and an end always is.
  await writers[0]?.end('succeeded', 'built');
  await redis.del([buildLogKeys('uid-2/1').stream, buildLogKeys('uid-2/1').state]);
  expect(await fill(writers[2] ?? (await BuildLogWriter.open(redis, 'uid-3/1')), 1)).toBe(1);
});

test('drops ended logs for a running one, the oldest first', async () => {
  const retention = new BuildLogRetention(redis, { buildsPerEnvironment: 100, totalBytes: 1e9 }, () => new Date());
  for (let build = 1; build <= 5; build += 1) {
    const writer = await BuildLogWriter.open(redis, `uid/${build}`);
    expect(await fill(writer, 6)).toBe(6);
    await writer.end('succeeded', '');
    await retention.ended('uid', build);
  }
  const running = await BuildLogWriter.open(redis, 'other/1');
  expect(await fill(running, 14)).toBe(14);
  const streams = [1, 2, 3, 4, 5].map((build) => buildLogKeys(`uid/${build}`).stream);
  const left = await Promise.all(streams.map((stream) => redis.exists(stream)));
  expect(left).toEqual([0, 0, 1, 1, 1]);
  expect(await redis.zRange('build-logs:ended', 0, -1)).toEqual(['uid/3', 'uid/4', 'uid/5']);
  expect(running.linesWritten('build-0')).toBe(7 * 64);
  await expectOthersUntouched();
});

test('drops no build logs for logs of services', async () => {
  const build = await BuildLogWriter.open(redis, 'uid/1');
  await fill(build, 15);
  const retention = new BuildLogRetention(redis, { buildsPerEnvironment: 100, totalBytes: 1e9 }, () => new Date());
  await build.end('succeeded', '');
  await retention.ended('uid', 1);
  const time = new Date().toISOString();
  const lines = Array.from({ length: 250 }, () => ({
    time,
    service: 'web',
    stage: 'run',
    pod: 'web-1',
    line: 'x'.repeat(4000),
  }));
  const fillServices = async () => {
    for (let service = 0; service < 40; service += 1) {
      const writer = await RuntimeLogWriter.open(redis, { uid: 'uid', service: `service-${service}` }, new Date());
      for (let step = 0; step < 2; step += 1) await writer.append('web-1', lines, undefined);
    }
  };
  await expect(fillServices()).rejects.toThrow(LogsFullError);
  expect(await redis.exists(buildLogKeys('uid/1').stream)).toBe(1);
  const other = await BuildLogWriter.open(redis, 'other/1');
  expect(await fill(other, 1)).toBe(1);
  await expectOthersUntouched();
});

test("limits one build's log to 16 MiB over all containers", async () => {
  const writer = await BuildLogWriter.open(redis, 'uid/1');
  for (let container = 0; container < 4; container += 1) {
    for (let step = 0; step < 6; step += 1) await writer.append(`build-${container}`, mebibyte);
  }
  const stored = Number(await redis.hGet(buildLogKeys('uid/1').state, 'stored'));
  expect(stored).toBeGreaterThan(15 * 1024 * 1024);
  expect(stored).toBeLessThan(16.1 * 1024 * 1024);
});
