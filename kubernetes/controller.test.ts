import { describe, expect, test } from '@jest/globals';
import { StallingError, WaitingError } from './controller-errors.ts';
import { Controller, type ControllerOptions, type Reconcile } from './controller.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';
import { silentLogger } from './testing/silent-logger.ts';

function setUp(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = new FakeClock();
  const counted: Record<string, number> = {};
  const count = (what: string) => (counted[what] = (counted[what] ?? 0) + 1);
  const calls: string[] = [];
  const nothing = () => undefined;
  const controller = new Controller({
    name: 'test',
    reconcile: (key, signal) => {
      calls.push(key);
      return reconcile(key, signal);
    },
    logger: silentLogger,
    clock,
    metrics: {
      queue: {
        depth: nothing,
        added: nothing,
        waited: nothing,
        worked: nothing,
        underWork: nothing,
        retried: () => count('retried'),
      },
      reconciled: (outcome) => count(outcome),
      stalled: () => count('stalled'),
      panicked: () => count('panicked'),
      workers: (active) => (counted['active'] = active),
    },
    ...options,
  });
  return { controller, clock, calls, counted };
}

/** Returns reconciles that run until the test ends them. */
function held() {
  const ends = new Map<string, () => void>();
  const reconcile: Reconcile = (key) => new Promise<void>((resolve) => ends.set(key, resolve));
  return { reconcile, end: (key: string) => ends.get(key)?.(), under: () => [...ends.keys()] };
}

describe('a reconcile', () => {
  test('that succeeds is not repeated until something changes', async () => {
    const { controller, clock, calls, counted } = setUp(() => Promise.resolve());
    await controller.start();
    controller.enqueue('a');
    await clock.advance(10_000_000);
    expect(calls).toEqual(['a']);
    expect(counted).toEqual({ success: 1, active: 0 });
    await controller.stop();
  });

  test('with requeueAfterMs is repeated after that time', async () => {
    const { controller, clock, calls, counted } = setUp(() => Promise.resolve({ requeueAfterMs: 1000 }));
    await controller.start();
    controller.enqueue('a');
    await clock.advance(2500);
    expect(calls).toHaveLength(3);
    expect(counted['requeue_after']).toBe(3);
    await controller.stop();
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['backoff', new Error('not yet'), 10, [0, 5, 15]],
    ['a wait', new WaitingError('not yet', 1000), 400, [0, 400, 800]],
    ['nothing at all', new StallingError('never'), 400, [0, 400, 800]],
  ])(
    'that fails with a time is repeated then instead of after %s, if that is later',
    async (_what, failure, ms, expected) => {
      const at: number[] = [];
      const { controller, clock } = setUp(() => {
        at.push(clock.now());
        return Promise.resolve({ failure, requeueAfterMs: ms });
      });
      await controller.start();
      controller.enqueue('a');
      await clock.advance(expected.at(-1) ?? 0);
      expect(at).toEqual(expected);
      await controller.stop();
    },
  );

  test('that fails is repeated after 5 ms, 10 ms, 20 ms, and from 5 ms again after a success', async () => {
    let failures = 3;
    const { controller, clock, calls, counted } = setUp(() =>
      failures-- > 0 ? Promise.reject(new Error('not yet')) : Promise.resolve(),
    );
    await controller.start();
    controller.enqueue('a');
    await clock.advance(34);
    expect(calls).toHaveLength(3);
    await clock.advance(1);
    expect(calls).toHaveLength(4);
    expect(counted).toEqual({ error: 3, success: 1, retried: 3, active: 0 });
    failures = 1;
    controller.enqueue('a');
    await clock.advance(5);
    expect(calls).toHaveLength(6);
    await controller.stop();
  });

  test('that throws StallingError counts as a permanent error, and is not repeated', async () => {
    const { controller, clock, calls, counted } = setUp(() => Promise.reject(new StallingError('fix your file')));
    await controller.start();
    controller.enqueue('a');
    await clock.advance(10_000_000);
    expect(calls).toHaveLength(1);
    expect(counted).toEqual({ error: 1, stalled: 1, active: 0 });
    await controller.stop();
  });

  test('that throws WaitingError is repeated after its time, and is not a failure', async () => {
    const { controller, clock, calls, counted } = setUp(() => Promise.reject(new WaitingError('not there yet', 3000)));
    await controller.start();
    controller.enqueue('a');
    await clock.advance(2999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toHaveLength(2);
    expect(counted).toEqual({ requeue_after: 2, active: 0 });
    await controller.stop();
  });

  test.each<[string, Reconcile]>([
    ['a programming error', () => Promise.reject(new TypeError('undefined is not a function'))],
    [
      'a throw before the first await',
      () => {
        throw new TypeError('sync');
      },
    ],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what it is about
    ['a throw of no error', () => Promise.reject('text')],
  ])('that throws %s is counted and repeated', async (_name, reconcile) => {
    const { controller, clock, calls, counted } = setUp(reconcile);
    await controller.start();
    controller.enqueue('a');
    await clock.advance(5);
    expect(calls).toHaveLength(2);
    expect(counted).toEqual({ error: 2, panicked: 2, retried: 2, active: 0 });
    await controller.stop();
  });
});

describe('workers', () => {
  test('reconcile a limited number of keys at once, and no key twice at once', async () => {
    const { reconcile, end, under } = held();
    const { controller, calls, counted } = setUp(reconcile, { workers: 2 });
    await controller.start();
    for (const key of ['a', 'b', 'c', 'a']) controller.enqueue(key);
    await settle();
    expect(under()).toEqual(['a', 'b']);
    expect(counted['active']).toBe(2);
    controller.enqueue('a');
    end('b');
    await settle();
    expect(calls).toEqual(['a', 'b', 'c']);
    end('a');
    await settle();
    expect(calls).toEqual(['a', 'b', 'c', 'a']);
    end('a');
    end('c');
    await controller.stop();
  });

  const flowOf = (key: string) => {
    const [group = '', host = ''] = key.split('/');
    return { tenant: group, group, host: `${group} ${host}` };
  };

  test.each([
    ['one host', (i: number) => `evil/host/${i}`, 4],
    ['a host each', (i: number) => `evil/host-${i}/${i}`, 8],
  ])(
    'are shared: of forty keys of one tenant that hang at %s, most wait, and delay no other tenant',
    async (_w, key, count) => {
      const { reconcile, end, under } = held();
      const hang: Reconcile = (one, signal) => (one.startsWith('evil/') ? reconcile(one, signal) : Promise.resolve());
      const { controller, calls } = setUp(hang, { workers: 16, flowOf });
      await controller.start();
      for (let i = 0; i < 40; i++) controller.enqueue(key(i));
      await settle();
      expect(under()).toHaveLength(count);
      controller.enqueue('acme/git/1');
      await settle();
      expect(calls).toHaveLength(count + 1);
      expect(calls.at(-1)).toBe('acme/git/1');
      end(key(0));
      await settle();
      expect(calls.at(-1)).toBe(key(count));
      const stopped = controller.stop();
      for (let i = 1; i <= count; i++) end(key(i));
      await stopped;
      expect(calls).toHaveLength(count + 2);
    },
  );

  test('are shared within a tenant: keys that hang at one host delay no others, and wait in order', async () => {
    const { reconcile, end, under } = held();
    const hang: Reconcile = (one, signal) => (one.includes('/bad/') ? reconcile(one, signal) : Promise.resolve());
    const { controller, calls } = setUp(hang, { workers: 16, flowOf });
    await controller.start();
    for (let i = 0; i < 8; i++) controller.enqueue(`acme/bad/${i}`);
    for (let i = 0; i < 8; i++) controller.enqueue(`acme/good/${i}`);
    await settle();
    expect(calls.filter((key) => key.includes('good'))).toHaveLength(8);
    for (let i = 0; i < 8; i++) {
      end(`acme/bad/${i}`);
      await settle();
    }
    expect(under()).toEqual(Array.from({ length: 8 }, (_, i) => `acme/bad/${i}`));
    await controller.stop();
  });

  test('are shared by at least one', async () => {
    const { controller, calls } = setUp(() => Promise.resolve(), { workers: 1, flowOf });
    await controller.start();
    for (const key of ['acme/git/1', 'acme/git/2']) controller.enqueue(key);
    await settle();
    expect(calls).toHaveLength(2);
    await controller.stop();
  });

  test('do not start before every informer has synced', async () => {
    const synced = Promise.withResolvers<undefined>();
    const informer = (whenSynced: Promise<unknown>) => ({
      name: 'x',
      whenSynced: () => whenSynced.then(() => undefined),
    });
    const { controller, calls } = setUp(() => Promise.resolve(), {
      informers: [informer(Promise.resolve()), informer(synced.promise)],
    });
    controller.enqueue('a');
    const start = controller.start();
    await settle();
    expect(calls).toEqual([]);
    synced.resolve(undefined);
    await start;
    await settle();
    expect(calls).toEqual(['a']);
    await controller.stop();
  });

  test('take what is urgent first of what was queued before they started, and new keys before the rest', async () => {
    const { controller, calls } = setUp(() => Promise.resolve(), { isUrgent: (key) => key === 'c' });
    for (const key of ['a', 'b', 'c']) controller.enqueue(key);
    const start = controller.start();
    await start;
    controller.enqueue('d');
    await settle();
    expect(calls).toEqual(['c', 'd', 'a', 'b']);
    await controller.stop();
  });

  test('keep the order of keys if none is more urgent than others', async () => {
    const { controller, calls } = setUp(() => Promise.resolve());
    for (const key of ['a', 'b']) controller.enqueue(key);
    await controller.start();
    controller.enqueue('c');
    await settle();
    expect(calls).toEqual(['a', 'b', 'c']);
    await controller.stop();
  });

  test('reconcile after enqueueAfter at the earlier of two times', async () => {
    const { controller, clock, calls } = setUp(() => Promise.resolve());
    await controller.start();
    controller.enqueueAfter('a', 100);
    controller.enqueueAfter('a', 10);
    await clock.advance(10);
    expect(calls).toEqual(['a']);
    await clock.advance(100);
    expect(calls).toEqual(['a']);
    await controller.stop();
  });
});

describe('stop', () => {
  test('waits for running reconciles, and starts no more', async () => {
    const { reconcile, end } = held();
    const { controller, calls } = setUp(reconcile);
    await controller.start();
    controller.enqueue('a');
    controller.enqueue('b');
    await settle();
    let stopped = false;
    const stop = controller.stop().then(() => (stopped = true));
    await settle();
    expect(stopped).toBe(false);
    end('a');
    await stop;
    controller.enqueue('c');
    await settle();
    expect(calls).toEqual(['a']);
  });

  test('aborts reconciles that take longer than drainMs', async () => {
    const { controller, clock, counted } = setUp(
      (_key, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      { drainMs: 1000 },
    );
    await controller.start();
    controller.enqueue('a');
    await settle();
    const stop = controller.stop();
    await clock.advance(1000);
    await stop;
    expect(counted['error']).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test('ends also before the informers have synced', async () => {
    const { controller } = setUp(() => Promise.resolve(), {
      informers: [{ name: 'x', whenSynced: () => new Promise<void>(() => undefined) }],
    });
    const start = controller.start();
    await controller.stop();
    await start;
  });
});

test('aborts the signal of a reconcile whose deadline has passed', async () => {
  let reason: unknown;
  const { controller, clock } = setUp(
    (_key, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          resolve();
        });
      }),
    { reconcileTimeoutMs: 5000 },
  );
  await controller.start();
  controller.enqueue('a');
  await clock.advance(5000);
  expect(String(reason)).toMatch(/took more than 5 s/);
  await controller.stop();
});
