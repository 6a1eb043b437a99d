import { describe, expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';
import { WorkQueue } from './work-queue.ts';

/** The tests of client-go's util/workqueue (queue_test.go, delaying_queue_test.go, default_rate_limiters_test.go). */
describe('queue', () => {
  test('returns keys in order, each once however often it was added', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect(queue.length).toBe(2);
    expect([await queue.get(), await queue.get()]).toEqual(['a', 'b']);
    expect(queue.length).toBe(0);
  });

  test('returns a key that is added while it is processed again after done, and not before', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    await queue.get();
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(queue.length).toBe(1);
    expect(await queue.get()).toBe('a');
    queue.done('a');
    expect(queue.length).toBe(0);
  });

  test('returns keys that give way after others, until they are added as others are', async () => {
    const queue = new WorkQueue();
    for (const key of ['a', 'b', 'c']) queue.add(key, { isLater: true });
    queue.add('d');
    queue.add('c');
    queue.add('d', { isLater: true });
    expect(queue.length).toBe(4);
    expect(queue.laterKeys).toEqual(['a', 'b']);
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['d', 'c', 'a']);
    queue.add('a');
    queue.done('a');
    expect([await queue.get(), await queue.get()]).toEqual(['a', 'b']);
    expect(queue.length).toBe(0);
  });

  test('resolves waiting gets in order with added keys', async () => {
    const queue = new WorkQueue();
    const gets = [queue.get(), queue.get()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(gets)).toEqual(['a', 'b']);
  });

  test('ignores done of a key that is not being processed', () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.done('a');
    expect(queue.length).toBe(1);
  });

  test('accepts nothing after shutDown, returns the rest, and then undefined', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.shutDown();
    queue.add('b');
    expect([await queue.get(), await queue.get()]).toEqual(['a', undefined]);
  });

  test('ends waiting gets on shutDown', async () => {
    const queue = new WorkQueue();
    const get = queue.get();
    queue.shutDown();
    expect(await get).toBeUndefined();
  });

  test('resolves shutDownWithDrain when every returned key is done', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    queue.add('b');
    await queue.get();
    await queue.get();
    let drained = false;
    const drain = queue.shutDownWithDrain().then(() => (drained = true));
    queue.done('a');
    await settle();
    expect(drained).toBe(false);
    queue.done('b');
    await drain;
  });

  test('resolves shutDownWithDrain of an idle queue at once', async () => {
    await new WorkQueue().shutDownWithDrain();
  });
});

describe('flows', () => {
  const flowOf = (key: string) => ({ tenant: key.charAt(0), group: key.charAt(0), host: key });
  const limits = { perTenant: 1 };

  test('let a get wait while their share is in use, and done continues with the next', async () => {
    const queue = new WorkQueue({ flowOf, limits });
    for (const key of ['a1', 'a2', 'b1']) queue.add(key);
    expect([await queue.get(), await queue.get()]).toEqual(['a1', 'b1']);
    const next = queue.get();
    queue.done('b1');
    expect(queue.length).toBe(1);
    queue.done('a1');
    expect(await next).toBe('a2');
  });

  test('let other keys of the tenant go before one that was added while it was processed', async () => {
    const queue = new WorkQueue({ flowOf, limits });
    for (const key of ['a1', 'a2']) queue.add(key);
    await queue.get();
    queue.add('a1');
    queue.done('a1');
    expect(await queue.get()).toBe('a2');
  });

  test('are returned after shutDown too, when their share is free, and then undefined', async () => {
    const queue = new WorkQueue({ flowOf, limits });
    for (const key of ['a1', 'a2']) queue.add(key);
    const gets = [queue.get(), queue.get(), queue.get()];
    queue.shutDown();
    queue.done('a1');
    expect(await Promise.all(gets)).toEqual(['a1', 'a2', undefined]);
  });
});

describe('delays', () => {
  test('return a key when its delay has passed', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('a', 50);
    await clock.advance(49);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });

  test.each([
    ['later then earlier', [100, 30]],
    ['earlier then later', [30, 100]],
  ])('count the earlier of two times for a key, once: %s', async (_name, waits) => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    for (const ms of waits) queue.addAfter('a', ms);
    await clock.advance(30);
    expect(queue.length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['forward past it: within half a minute', 3600_000, 30_000],
    ['back: when its timer fires, as it would have been', -7200_000, 1800_000],
  ])('work while the clock is set %s', async (_how, setBy, expected) => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('soon', 10_000);
    queue.addAfter('a', 1800_000);
    await clock.advance(10_000);
    queue.done((await queue.get()) ?? '');
    clock.set(setBy);
    const from = clock.now();
    while (queue.length === 0 && clock.now() - from < 2 * 3600_000) await clock.advance(1000);
    expect(clock.now() - from).toBeLessThanOrEqual(expected);
    expect(clock.now() - from).toBeGreaterThan(expected - 30_000);
    expect(clock.pending).toBe(0);
  });

  test('of zero or less add the key at once', () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.addAfter('a', 0);
    queue.addAfter('b', -1);
    expect(queue.length).toBe(2);
  });

  test('are dropped on shutDown', () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('a', 10);
    queue.shutDown();
    expect(clock.pending).toBe(0);
  });
});

describe('backoff', () => {
  test('doubles from 5 ms to 1000 s, separately for each key', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const waits: number[] = [];
    for (let failure = 0; failure < 20; failure++) {
      const start = clock.now();
      queue.addRateLimited('a');
      while (queue.length === 0) await clock.advance(5 * 2 ** Math.min(failure, 3));
      waits.push(clock.now() - start);
      queue.done((await queue.get()) ?? '');
      if (failure === 5) break;
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160]);
    queue.addRateLimited('b');
    await clock.advance(5);
    expect(queue.length).toBe(1);
  });

  test('never exceeds the maximum, however often a key failed', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, maxDelayMs: 100 });
    for (let failure = 0; failure < 2000; failure++) queue.addRateLimited('a');
    queue.forget('never added');
    expect(queue.requeues('a')).toBe(2000);
    await clock.advance(100);
    expect(queue.length).toBe(1);
  });

  test('starts over after forget', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addRateLimited('a');
    await clock.advance(5);
    queue.done((await queue.get()) ?? '');
    queue.forget('a');
    expect(queue.requeues('a')).toBe(0);
    queue.addRateLimited('a');
    await clock.advance(5);
    expect(queue.length).toBe(1);
  });
});

test('reports depth, adds, retries, both durations, and what is being processed', async () => {
  const reported: [string, number?][] = [];
  let underWork: () => number[] = () => [];
  const clock = new FakeClock();
  const queue = new WorkQueue({
    clock,
    metrics: {
      depth: (length) => reported.push(['depth', length]),
      added: () => reported.push(['added']),
      retried: () => reported.push(['retried']),
      waited: (seconds) => reported.push(['waited', seconds]),
      worked: (seconds) => reported.push(['worked', seconds]),
      underWork: (seconds) => (underWork = seconds),
    },
  });
  queue.add('a');
  await clock.advance(2000);
  await queue.get();
  await clock.advance(3000);
  expect(underWork()).toEqual([3]);
  queue.addRateLimited('a');
  queue.done('a');
  expect(underWork()).toEqual([]);
  expect(reported).toEqual([['added'], ['depth', 1], ['waited', 2], ['depth', 0], ['retried'], ['worked', 3]]);
});

const key = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key }),
  fc.record({ do: fc.constant('addAfter' as const), key, ms: fc.integer({ min: 0, max: 50 }) }),
  fc.record({ do: fc.constant('addRateLimited' as const), key }),
  fc.record({ do: fc.constant('forget' as const), key }),
  fc.record({ do: fc.constant('get' as const) }),
  fc.record({ do: fc.constant('done' as const), key }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 100 }) }),
);

/** States what the queue must do, without optimization. */
class Model {
  readonly dirty = new Set<string>();
  readonly processing = new Set<string>();
  readonly delayed = new Map<string, number>();

  get ready(): string[] {
    return [...this.dirty].filter((name) => !this.processing.has(name));
  }

  addAfter(name: string, now: number, ms: number): void {
    if (ms > 0) this.delayed.set(name, Math.min(this.delayed.get(name) ?? Infinity, now + ms));
    else this.dirty.add(name);
  }

  advanceTo(now: number): void {
    for (const [name, at] of this.delayed) {
      if (at > now) continue;
      this.delayed.delete(name);
      this.dirty.add(name);
    }
  }
}

test('property: no key is lost, duplicated, or returned twice at once, in whatever order things happen', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const clock = new FakeClock();
      const queue = new WorkQueue({ clock });
      const model = new Model();
      for (const one of steps) {
        if (one.do === 'add') {
          queue.add(one.key);
          model.dirty.add(one.key);
        } else if (one.do === 'addAfter') {
          queue.addAfter(one.key, one.ms);
          model.addAfter(one.key, clock.now(), one.ms);
        } else if (one.do === 'addRateLimited') {
          model.addAfter(one.key, clock.now(), 5 * 2 ** queue.requeues(one.key));
          queue.addRateLimited(one.key);
        } else if (one.do === 'forget') {
          queue.forget(one.key);
        } else if (one.do === 'done') {
          queue.done(one.key);
          model.processing.delete(one.key);
        } else if (one.do === 'advance') {
          await clock.advance(one.ms);
          model.advanceTo(clock.now());
        } else if (queue.length > 0) {
          const got = await queue.get();
          expect(model.ready).toContain(got);
          model.dirty.delete(got ?? '');
          model.processing.add(got ?? '');
        }
        expect(queue.length).toBe(model.ready.length);
      }
    }),
    { numRuns: 300 },
  );
});
