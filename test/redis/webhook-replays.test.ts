import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Unavailable } from '../../api/shared/errors.ts';
import { REMEMBERED_PER_DAY, REMEMBERED_PER_MINUTE, REPLAY_WINDOW_MS, Replays } from '../../api/webhooks/replays.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

const now = () => 0;
const of = (repositoryUid: string, tenant = 'account') => ({ repositoryUid, tenant });
let server: TestRedis;
let redis: RedisClient;

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());

test('accepts one of two simultaneous copies of a delivery at two replicas', async () => {
  const replicas = [new Replays(redis, now), new Replays(await server.connect(), now)];
  for (let round = 0; round < 20; round++) {
    const ids = [`id ${round}`, `body ${round}`];
    const taken = await Promise.all([...replicas, ...replicas].map((replica) => replica.take(of('uid'), ids)));
    expect(taken.filter((one) => one === 'new')).toHaveLength(1);
  }
});

test('recognizes a repetition by each of its IDs, for each repository, during the window', async () => {
  const replays = new Replays(redis, now);
  expect(await replays.take(of('a'), ['id 1', 'body 1'])).toBe('new');
  expect(await replays.take(of('a'), ['id 2', 'body 1'])).toBe('repeated');
  expect(await replays.take(of('a'), ['id 1', 'body 2'])).toBe('repeated');
  expect(await replays.take(of('b'), ['id 1', 'body 1'])).toBe('new');
  const keys = await redis.keys('coppice:webhook:a:*');
  const left = await Promise.all(keys.map((key) => redis.pTTL(key)));
  expect(Math.min(...left)).toBeGreaterThan(REPLAY_WINDOW_MS - 60_000);
  expect(Math.max(...left)).toBeLessThanOrEqual(REPLAY_WINDOW_MS);
});

test('accepts again what was released', async () => {
  const replays = new Replays(redis, now);
  await replays.take(of('c'), ['id 1', 'body 1']);
  await replays.giveBack('c', ['id 1', 'body 1']);
  expect(await replays.take(of('c'), ['id 1', 'body 1'])).toBe('new');
});

test('distinguishes IDs of any form', async () => {
  const replays = new Replays(redis, now);
  const ids = ['id \0', 'id \n', 'id *', `id ${'x'.repeat(10_000)}`, `id ${'x'.repeat(10_001)}`, 'id ä'];
  for (const id of ids) expect(await replays.take(of('d'), [id])).toBe('new');
  for (const id of ids) expect(await replays.take(of('d'), [id])).toBe('repeated');
});

test('remembers a limited number of deliveries of a repository per minute, and of IDs of an account per day', async () => {
  let ms = 0;
  let sent = 0;
  const set = () => Promise.resolve('OK');
  const replays = new Replays({ set, del: set }, () => ms);
  const send = (repository: string, tenant: string, ids = 1) =>
    replays.take(
      of(repository, tenant),
      Array.from({ length: ids }, () => `id ${sent++}`),
    );
  for (let index = 0; index < REMEMBERED_PER_MINUTE; index++) expect(await send('f', 'one')).toBe('new');
  expect(await send('f', 'one')).toBe('beyondMinute');
  expect(await send('g', 'one', REMEMBERED_PER_DAY - REMEMBERED_PER_MINUTE)).toBe('new');
  expect(await send('h', 'one')).toBe('beyondDay');
  expect(await send('i', 'other')).toBe('new');
  ms = 60_000;
  expect(await send('f', 'one')).toBe('beyondDay');
  ms = 24 * 3600_000;
  expect(await send('f', 'one')).toBe('new');
});

test('accepts nothing without Redis', async () => {
  const lost = await server.connect();
  lost.destroy();
  await expect(new Replays(lost, now).take(of('e'), ['id 1'])).rejects.toBeInstanceOf(Unavailable);
});
