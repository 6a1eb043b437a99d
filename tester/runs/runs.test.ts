import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import { CouldNotRun, type Outcome, type RunContext } from '../test-types/kind.ts';
import { testOf } from '../test-types/test.ts';
import { RunQueue } from './run-queue.ts';
import { hashOf } from './run.ts';
import { QueueFull, Runs } from './runs.ts';
import { MemoryStore } from './testing/memory-store.ts';

const passed: Outcome = { passed: true, summary: 'all is well', items: [] };

interface World {
  store: MemoryStore;
  runs: Runs;
  /** The running tests in order of their start. */
  atWork: { url: string; end: (outcome: Outcome | Error) => void; signal: AbortSignal; endBy: number }[];
  ended: string[];
}

function world({ store = new MemoryStore(), deadlineMs = 60_000 } = {}): World {
  const atWork: World['atWork'] = [];
  const ended: string[] = [];
  const held = testOf({
    type: 'held',
    description: 'ends when it is reported to',
    params: z.strictObject({ url: z.string() }),
    images: false,
    run: ({ url }, { signal, endBy }: RunContext) =>
      new Promise<Outcome>((resolve, reject) => {
        const end = (outcome: Outcome | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
        atWork.push({ url, signal, endBy, end });
      }),
  });
  let tokens = 0;
  const runs = new Runs({
    store,
    queue: new RunQueue({ atWork: { total: 2, perGroup: 1 }, waiting: { total: 4, perGroup: 2 } }),
    tests: new Map([['held', held]]),
    groupOf: (url) => url.slice(0, 1),
    deadlineMs,
    retryMs: 1,
    randomToken: () => `token-${String(++tokens)}`,
    now: () => 0,
    metrics: { ended: (_type, result) => ended.push(result), refused: () => ended.push('refused') },
    logger: pino({ enabled: false }),
  });
  return { store, runs, atWork, ended };
}

const start = ({ runs }: World, url: string) => runs.start('held', { url }, url);
const textOf = (content: string | undefined) => Buffer.from(content ?? '', 'base64').toString();

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('starts and ends a run, and returns the result to whoever has its Secret', async () => {
  const all = world();
  await all.runs.recover();
  const { id, secret } = await start(all, 'a1');
  expect(all.store.runs.get(id)?.secretHash).toBe(hashOf(secret));
  expect(JSON.stringify([...all.store.runs])).not.toContain(secret);
  await until(() => all.atWork.length === 1);
  expect(await all.runs.status(id, secret)).toEqual({ state: 'running' });
  expect(await all.runs.status(id, `${secret}x`)).toBeUndefined();
  expect(await all.runs.status('another', secret)).toBeUndefined();
  expect(await all.runs.status('another', '')).toBeUndefined();

  all.atWork[0]?.end(passed);
  await until(() => all.store.stateOf(id) === 'finished');
  const items = await all.runs.result(id);
  expect(items.map(({ Label, Type, Content }) => [Label, Type, textOf(Content)])).toEqual([
    ['passed', 'string', 'true'],
    ['summary', 'string', 'all is well'],
  ]);
  expect(all.ended).toEqual(['passed']);
});

describe('a test that', () => {
  test.each<[string, Error, string]>([
    ['cannot run', new CouldNotRun('no browser'), 'no browser'],
    [
      'throws',
      new TypeError('secret inner words'),
      'the test failed with an internal error. Ask an administrator to check the log of the tester',
    ],
  ])('%s fails', async (_what, error, message) => {
    const all = world();
    await all.runs.recover();
    const { id, secret } = await start(all, 'a1');
    await until(() => all.atWork.length === 1);
    all.atWork[0]?.end(error);
    await until(() => all.ended.length === 1);
    expect(await all.runs.status(id, secret)).toEqual({ state: 'failed', message });
  });

  test('takes too long fails, although it never ends', async () => {
    const all = world({ deadlineMs: 20 });
    await all.runs.recover();
    const { id, secret } = await start(all, 'a1');
    await until(() => all.ended.length === 1);
    expect(await all.runs.status(id, secret)).toEqual({
      state: 'failed',
      message: 'the test took longer than 0 s. Check fewer or faster pages',
    });
    expect(all.atWork[0]?.signal.aborted).toBe(true);
  });

  test('this tester does not have fails', async () => {
    const store = new MemoryStore();
    await store.add({
      id: 'old',
      secretHash: hashOf('s'),
      type: 'former',
      params: { url: 'a1' },
      group: 'a',
      tenant: 'a',
    });
    const all = world({ store });
    await all.runs.recover();
    await until(() => all.ended.length === 1);
    expect(await all.runs.status('old', 's')).toEqual({
      state: 'failed',
      message: 'this tester has no test type former. GET /test/info lists its types',
    });
  });
});

test('runs a limited number at once, each group within its share, and then the next', async () => {
  const all = world();
  await all.runs.recover();
  for (const url of ['a1', 'a2', 'b1', 'c1']) await start(all, url);
  await until(() => all.atWork.length === 2);
  expect(all.atWork.map(({ url }) => url)).toEqual(['a1', 'b1']);
  all.atWork[1]?.end(passed);
  await until(() => all.atWork.length === 3);
  expect(all.atWork[2]?.url).toBe('c1');
  expect(all.atWork[2]?.endBy).toBe(54_000);
});

test('counts for the group that the caller names, not for that of the host', async () => {
  const all = world();
  await all.runs.recover();
  const names = ['acme', 'beta', undefined];
  for (const group of names) await all.runs.start('held', { url: 'a' }, 'a', { group });
  expect([...all.store.runs.values()].map(({ group }) => group)).toEqual(['acme', 'beta', 'a']);
});

test('accepts and stores nothing when the queue is full', async () => {
  const all = world();
  await all.runs.recover();
  for (const url of ['a1', 'a2', 'a3']) await start(all, url);
  await expect(start(all, 'a4')).rejects.toBeInstanceOf(QueueFull);
  expect([all.store.runs.size, all.ended]).toEqual([3, ['refused']]);
});

test('frees the slot of a run that Redis does not store', async () => {
  const all = world();
  await all.runs.recover();
  all.store.isAway = true;
  for (let round = 0; round < 5; round++) await expect(start(all, 'a1')).rejects.toThrow('disconnected');
  all.store.isAway = false;
  expect(await start(all, 'a1')).toEqual(expect.objectContaining({ id: expect.any(String) }));
});

test('writes an end that Redis did not store when Redis is back', async () => {
  const all = world();
  await all.runs.recover();
  const { id } = await start(all, 'a1');
  await until(() => all.atWork.length === 1);
  all.store.isAway = true;
  all.atWork[0]?.end(passed);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(all.store.stateOf(id)).toBe('running');
  all.store.isAway = false;
  await until(() => all.store.stateOf(id) === 'finished');
});

describe('a restart', () => {
  test('fails running tests, and continues with queued ones in order', async () => {
    const former = world();
    await former.runs.recover();
    const ran = await start(former, 'a1');
    const waited = [await start(former, 'a2'), await start(former, 'a3')];
    await until(() => former.atWork.length === 1);

    const all = world({ store: former.store });
    await all.runs.recover();
    const message = 'the tester was restarted while this test was running. Run the test again';
    expect(await all.runs.status(ran.id, ran.secret)).toEqual({ state: 'failed', message });
    await until(() => all.atWork.length === 1);
    all.atWork[0]?.end(passed);
    await until(() => all.atWork.length === 2);
    expect(all.atWork.map(({ url }) => url)).toEqual(['a2', 'a3']);
    expect(await all.runs.status(waited[0]?.id ?? '', waited[0]?.secret ?? '')).toEqual({ state: 'finished' });

    // A former tester that is still running does not change the runs that it has lost.
    former.atWork[0]?.end(passed);
    await until(() => former.ended.length === 1);
    expect(all.store.stateOf(ran.id)).toBe('failed');
  });

  test('that is graceful marks running tests as failed', async () => {
    const all = world();
    await all.runs.recover();
    const [ran, waited] = [await start(all, 'a1'), await start(all, 'a2')];
    await until(() => all.atWork.length === 1);
    await all.runs.stop();
    expect([all.store.stateOf(ran.id), all.store.stateOf(waited.id)]).toEqual(['failed', 'queued']);
    expect(all.atWork).toHaveLength(1);
  });

  test('waits for Redis, and accepts no runs before', async () => {
    const store = new MemoryStore();
    store.isAway = true;
    const all = world({ store });
    const recovered = all.runs.recover();
    await expect(start(all, 'a1')).rejects.toThrow('starting or stopping');
    store.isAway = false;
    await recovered;
    expect(all.runs.isRecovered).toBe(true);
  });
});
