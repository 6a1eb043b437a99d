import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import { RunQueue } from '../../tester/runs/run-queue.ts';
import { RunStore } from '../../tester/runs/run-store.ts';
import { Runs, type Started } from '../../tester/runs/runs.ts';
import type { Outcome } from '../../tester/test-types/kind.ts';
import { numberItem } from '../../tester/test-types/items.ts';
import { testOf } from '../../tester/test-types/test.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

const keepMs = 7 * 24 * 3_600_000;
const keep = { ms: keepMs, bytes: 64 * 1024 * 1024 };
let server: TestRedis;
let redis: RedisClient;

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());
beforeEach(() => redis.flushAll());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(5);
}

interface Tester {
  runs: Runs;
  /** The number of running tests, and the maximum of all and of one group. */
  seen: { now: Map<string, number>; max: number; maxOfGroup: number; order: string[] };
}

/** A tester whose only test ends after a few milliseconds, or never. */
function tester(of: RedisClient, { lasts = 5 } = {}): Tester {
  const seen: Tester['seen'] = { now: new Map(), max: 0, maxOfGroup: 0, order: [] };
  const run = async ({ url }: { url: string }): Promise<Outcome> => {
    const group = groupOf(url);
    seen.order.push(url);
    seen.now.set(group, (seen.now.get(group) ?? 0) + 1);
    seen.max = Math.max(
      seen.max,
      [...seen.now.values()].reduce((sum, count) => sum + count, 0),
    );
    seen.maxOfGroup = Math.max(seen.maxOfGroup, ...seen.now.values());
    if (lasts === Infinity) await new Promise(() => undefined);
    else await pause(lasts);
    seen.now.set(group, (seen.now.get(group) ?? 0) - 1);
    return { passed: true, summary: url, items: [numberItem('time', 5)] };
  };
  const params = z.strictObject({ url: z.string() });
  const only = testOf({ type: 'only', description: '', params, images: false, run });
  let tokens = 0;
  const runs = new Runs({
    store: new RunStore(of, keep, Date.now),
    queue: new RunQueue({ atWork: { total: 3, perGroup: 2 }, waiting: { total: 1000, perGroup: 250 } }),
    tests: new Map([['only', only]]),
    groupOf,
    deadlineMs: 60_000,
    retryMs: 20,
    randomToken: () => `${process.hrtime.bigint()}-${String(++tokens)}`,
    now: () => performance.now(),
    metrics: { ended: () => undefined, refused: () => undefined },
    logger: pino({ enabled: false }),
  });
  return { runs, seen };
}

const groupOf = (url: string): string => url.split('/')[0] ?? '';
const start = ({ runs }: Tester, url: string) => runs.start('only', { url }, url);
const statusOf = ({ runs }: Tester, { id, secret }: Started) => runs.status(id, secret);
const isFinished = async (of: Tester, started: Started) => (await statusOf(of, started))?.state === 'finished';

test('stores the result of a run for the configured time', async () => {
  const one = tester(redis);
  await one.runs.recover();
  const started = await start(one, 'acme/1');
  await until(() => isFinished(one, started));
  const items = await one.runs.result(started.id);
  expect(items.map(({ Label, Type, Content }) => [Label, Type, Buffer.from(Content, 'base64').toString()])).toEqual([
    ['passed', 'string', 'true'],
    ['summary', 'string', 'acme/1'],
    ['time', 'number', '5'],
  ]);
  const left = await redis.pTTL(`coppice:tester:run:${started.id}`);
  expect(left).toBeGreaterThan(keepMs - 60_000);
  expect(left).toBeLessThanOrEqual(keepMs);
  expect(await one.runs.status(started.id, 'another')).toBeUndefined();
  expect(await one.runs.status('another', started.secret)).toBeUndefined();
});

test('removes the params of a run when it ends, so that their size is not kept', async () => {
  const store = new RunStore(redis, keep, Date.now);
  for (const [id, end] of [
    ['finished', { result: [] }],
    ['failed', { message: 'given up' }],
  ] as const) {
    await store.add({ id, secretHash: 'x', type: 'only', params: { much: 'x'.repeat(8000) }, group: 'g', tenant: 'g' });
    await store.start(id);
    const key = `coppice:tester:run:${id}`;
    expect(await redis.hStrLen(key, 'params')).toBeGreaterThan(8000);
    await store.end(id, 'result' in end ? { result: [...end.result] } : end);
    const kept = await redis.hGetAll(key);
    expect(Object.keys(kept)).not.toContain('params');
    expect(await redis.memoryUsage(key)).toBeLessThan(Number(kept.bytes));
  }
});

test('stores no Secret in Redis', async () => {
  const one = tester(redis, { lasts: Infinity });
  await one.runs.recover();
  const { id, secret } = await start(one, 'acme/1');
  expect(JSON.stringify(await redis.hGetAll(`coppice:tester:run:${id}`))).not.toContain(secret);
});

test('ends a hundred queued runs within the limit, without waiting for one group', async () => {
  const one = tester(redis);
  await one.runs.recover();
  const urls = [
    ...Array.from({ length: 80 }, (_, index) => `big/${index}`),
    ...Array.from({ length: 20 }, (_, index) => `small/${index}`),
  ];
  const started = await Promise.all(urls.map((url) => start(one, url)));
  await until(async () => (await Promise.all(started.map((run) => isFinished(one, run)))).every(Boolean));
  expect(one.seen.order.toSorted()).toEqual(urls.toSorted());
  expect([one.seen.max, one.seen.maxOfGroup]).toEqual([3, 2]);
  // The last of the small group's twenty starts long before the big group's eighty have ended.
  expect(one.seen.order.lastIndexOf('small/19')).toBeLessThan(60);
  expect(await redis.keys('coppice:tester:*')).toHaveLength(100 + 2);
});

describe('a restart', () => {
  test('fails running tests and continues with the queued ones of a hundred', async () => {
    const former = tester(redis, { lasts: Infinity });
    await former.runs.recover();
    const started: Started[] = [];
    for (let index = 0; index < 100; index++) started.push(await start(former, `group-${index % 2}/${index}`));
    await until(async () => (await redis.sCard('coppice:tester:running')) === 3);
    // A run that has not ended must not expire or be evicted.
    for (const { id } of started) expect(await redis.ttl(`coppice:tester:run:${id}`)).toBe(-1);

    const next = tester(await server.connect());
    await next.runs.recover();
    await until(
      async () => (await redis.zCard('coppice:tester:queued')) + (await redis.sCard('coppice:tester:running')) === 0,
    );
    const states = await Promise.all(started.map((run) => statusOf(next, run)));
    expect(states.filter((status) => status?.state === 'finished')).toHaveLength(97);
    const failed = states.filter((status) => status?.state === 'failed');
    expect(failed).toEqual(
      Array.from({ length: 3 }, () => ({
        state: 'failed',
        message: 'the tester was restarted while this test was running. Run the test again',
      })),
    );
    const order = next.seen.order.filter((url) => url.startsWith('group-0')).map((url) => Number(url.split('/')[1]));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('keeps a run failed, whatever the former tester still reports', async () => {
    const store = new RunStore(redis, keep, Date.now);
    await store.add({ id: 'a', secretHash: 'x', type: 'only', params: {}, group: 'g', tenant: 'g' });
    await store.start('a');
    expect(await store.end('a', { message: 'given up' })).toBe(true);
    expect(await store.end('a', { result: [] })).toBe(false);
    expect(await store.status('a')).toEqual({ state: 'failed', message: 'given up' });
    expect(await store.result('a')).toBeUndefined();
  });
});

test('loses no run when Redis is killed: queued ones continue, ended ones are written', async () => {
  const one = tester(redis, { lasts: 300 });
  await one.runs.recover();
  const started: Started[] = [];
  for (let index = 0; index < 5; index++) started.push(await start(one, `acme/${index}`));
  await server.kill();
  await pause(400);
  await server.start();
  await until(() => redis.isReady);
  await until(async () => (await Promise.all(started.map((run) => isFinished(one, run)))).every(Boolean));
});

test('limits the stored results: a group displaces its own oldest, also after a restart', async () => {
  const small = { ms: keepMs, bytes: 10_000 };
  let clock = Date.now();
  const store = new RunStore(redis, small, () => clock++);
  const end = async (of: RunStore, id: string, group: string) => {
    await of.add({ id, secretHash: 'x', type: 'only', params: {}, group, tenant: group });
    await of.start(id);
    await of.end(id, { message: 'x'.repeat(2000) });
  };
  const there = async () => (await redis.keys('coppice:tester:run:*')).map((key) => key.split(':')[3]).sort();
  for (const id of ['b1', 'a1', 'a2', 'a3', 'a4']) await end(store, id, id.slice(0, 1));
  expect(await there()).toEqual(['a3', 'a4', 'b1']);
  const next = new RunStore(redis, small, () => clock++);
  await next.loadKept();
  await end(next, 'a5', 'a');
  expect(await there()).toEqual(['a4', 'a5', 'b1']);
  expect((await redis.zRange('coppice:tester:ended', 0, -1)).sort()).toEqual(['a4', 'a5', 'b1']);
});
