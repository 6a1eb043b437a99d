import { describe, expect, test } from '@jest/globals';
import { apiErrorFrom, UnreachableError } from './api-error.ts';
import { WaitTimeoutError } from './change-waiters.ts';
import type { ObjectList, WatchEvent } from './client-options.ts';
import { Informer, type InformerOptions } from './informer.ts';
import type { ListWatch } from './list-watch.ts';
import type { KubernetesObject } from './resource-type.ts';
import { FakeClock, settle } from './testing/fake-clock.ts';
import { silentLogger } from './testing/silent-logger.ts';

const object = (name: string, version: number, labels?: Record<string, string>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, resourceVersion: String(version), ...(labels && { labels }) },
});

type Event = WatchEvent<KubernetesObject>;

/** An open watch of an API server: tests send events to it, end it, or break it. */
class FakeWatch {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  #settled: (() => void)[] = [];
  #queue: (Event | Error | 'end')[] = [];

  constructor(resourceVersion: string, signal: AbortSignal) {
    this.resourceVersion = resourceVersion;
    this.signal = signal;
  }

  async send(...items: (Event | Error | 'end')[]): Promise<void> {
    this.#queue.push(...items);
    for (const wake of this.#settled.splice(0)) wake();
    await settle();
  }

  /** Ignores the signal, like a connection that broke silently. */
  async *events(): AsyncGenerator<Event> {
    for (;;) {
      const item = this.#queue.shift();
      if (item === undefined) await new Promise<void>((resolve) => this.#settled.push(resolve));
      else if (item === 'end') return;
      else if (item instanceof Error) throw item;
      else yield item;
    }
  }
}

class FakeSource implements ListWatch<KubernetesObject> {
  lists: object[] = [];
  watches: FakeWatch[] = [];
  /** Responses to the next lists in order; the last one is repeated. */
  answers: (ObjectList<KubernetesObject> | Error)[];

  constructor(...answers: (ObjectList<KubernetesObject> | Error)[]) {
    this.answers = answers;
  }

  list(options: Parameters<ListWatch<KubernetesObject>['list']>[0]) {
    this.lists.push({ ...options, signal: undefined, onContinue: undefined });
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(answer ?? { items: [], resourceVersion: '1' });
  }

  watch({ resourceVersion, signal }: { resourceVersion: string; signal: AbortSignal }) {
    const watch = new FakeWatch(resourceVersion, signal);
    this.watches.push(watch);
    return watch.events();
  }

  get last(): FakeWatch {
    const last = this.watches.at(-1);
    if (!last) throw new Error('there is no watch yet');
    return last;
  }
}

async function started(source: FakeSource, options: Partial<InformerOptions<KubernetesObject>> = {}) {
  const clock = new FakeClock();
  const failures = { handler: 0, watch: 0 };
  const informer = new Informer<KubernetesObject>({
    name: 'ConfigMap',
    source,
    clock,
    random: () => 0,
    logger: silentLogger,
    metrics: {
      listed: () => undefined,
      watched: () => undefined,
      failed: () => failures.watch++,
      handlerFailed: () => failures.handler++,
    },
    ...options,
  });
  const reported: string[] = [];
  informer.addHandler((type, { metadata }) => reported.push(`${type} ${metadata.name}@${metadata.resourceVersion}`));
  informer.start();
  await settle();
  return { informer, clock, reported, failures, source };
}

const page = (names: [string, number][], at: number, next?: string): ObjectList<KubernetesObject> => ({
  items: names.map((of) => object(...of)),
  resourceVersion: String(at),
  continue: next,
});
const gone = () => apiErrorFrom('watch', 410, { reason: 'Expired', message: 'too old resource version' });

/**
 * The cases of client-go's reflector (tools/cache/reflector_test.go), and silence, which it leaves to the connection.
 */
describe('list and watch', () => {
  test('lists page by page, then watches from the version of the list', async () => {
    const source = new FakeSource(page([['a', 3]], 7, 'more'), page([['b', 4]], 7));
    const { informer, reported } = await started(source);
    expect(source.lists).toEqual([{ limit: 500 }, { limit: 500, continue: 'more' }]);
    expect(source.last.resourceVersion).toBe('7');
    expect(reported).toEqual(['added a@3', 'added b@4']);
    expect(informer.hasSynced()).toBe(true);
    await informer.stop();
  });

  test('lists everything at once when the pages expire meanwhile', async () => {
    const source = new FakeSource(
      page([['a', 3]], 7, 'more'),
      gone(),
      page(
        [
          ['a', 3],
          ['b', 9],
        ],
        10,
      ),
    );
    const { informer, reported } = await started(source);
    expect(source.lists.at(-1)).toEqual({});
    expect(reported).toEqual(['added a@3', 'added b@9']);
    await informer.stop();
  });

  test('continues a watch that ended regularly at once from the last event or bookmark', async () => {
    const { informer, source, clock, reported } = await started(new FakeSource(page([], 7)));
    await source.last.send({ type: 'ADDED', object: object('a', 8) }, { type: 'BOOKMARK', object: object('', 20) });
    await clock.advance(5000);
    await source.last.send('end');
    expect(source.watches.map(({ resourceVersion }) => resourceVersion)).toEqual(['7', '20']);
    expect(source.lists).toHaveLength(1);
    expect(reported).toEqual(['added a@8']);
    await informer.stop();
  });

  test('delays a new watch after watches that end at once', async () => {
    const { informer, source, clock } = await started(new FakeSource(page([], 7)));
    await source.last.send('end');
    expect(source.watches).toHaveLength(1);
    await clock.advance(500);
    expect(source.watches).toHaveLength(2);
    await source.last.send('end');
    await clock.advance(999);
    expect(source.watches).toHaveLength(2);
    await clock.advance(1);
    expect(source.watches).toHaveLength(3);
    await informer.stop();
  });

  test('lists again after 410 Gone, and reports deletions that it missed', async () => {
    const source = new FakeSource(
      page(
        [
          ['a', 3],
          ['b', 4],
        ],
        7,
      ),
      page([['b', 9]], 10),
    );
    const { informer, clock, reported } = await started(source);
    await source.last.send(gone());
    await clock.advance(500);
    expect(reported).toEqual(['added a@3', 'added b@4', 'deleted a@3', 'updated b@9']);
    expect(source.last.resourceVersion).toBe('10');
    await informer.stop();
  });

  test('resumes a broken connection from the last event with backoff, without a list', async () => {
    const { informer, source, clock, failures } = await started(new FakeSource(page([], 7)));
    await source.last.send({ type: 'ADDED', object: object('a', 8) });
    await source.last.send(new UnreachableError('cut'));
    for (const [wait, watches] of [
      [500, 2],
      [1000, 3],
      [2000, 4],
    ] as const) {
      await clock.advance(wait - 1);
      expect(source.watches).toHaveLength(watches - 1);
      await clock.advance(1);
      expect(source.watches).toHaveLength(watches);
      await source.last.send(new UnreachableError('still away'));
    }
    await clock.advance(4000);
    expect(source.last.resourceVersion).toBe('8');
    expect(source.lists).toHaveLength(1);
    expect(failures.watch).toBe(4);
    await source.last.send({ type: 'ADDED', object: object('b', 9) }, new UnreachableError('cut again'));
    await clock.advance(500);
    expect(source.watches).toHaveLength(6);
    await informer.stop();
  });

  test('lists again from an API server whose etcd was restored', async () => {
    const { informer, source, clock } = await started(new FakeSource(page([['a', 90]], 100), page([['a', 40]], 60)));
    const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] };
    await source.last.send(apiErrorFrom('watch', 504, { reason: 'Timeout', message: 'Too large', details }));
    await clock.advance(500);
    expect(source.last.resourceVersion).toBe('60');
    expect(informer.get('shop/a')?.metadata.resourceVersion).toBe('40');
    await informer.stop();
  });

  test('replaces a silent watch by a new one from the same version', async () => {
    const { informer, source, clock, reported } = await started(new FakeSource(page([], 7)), { silenceMs: 60_000 });
    await clock.advance(59_999);
    await source.last.send({ type: 'ADDED', object: object('a', 8) });
    await clock.advance(59_999);
    expect(source.watches).toHaveLength(1);
    const [dead] = source.watches;
    await clock.advance(1);
    expect(dead?.signal.aborted).toBe(true);
    expect(source.watches).toHaveLength(2);
    expect(source.last.resourceVersion).toBe('8');
    await dead?.send({ type: 'ADDED', object: object('from the grave', 9) });
    await source.last.send({ type: 'ADDED', object: object('b', 9) });
    expect(reported).toEqual(['added a@8', 'added b@9']);
    await informer.stop();
  });

  test.each<[string, unknown]>([
    ['no JSON', new SyntaxError('Unexpected token')],
    ['without an object', { type: 'ADDED' }],
    ['without metadata', { type: 'MODIFIED', object: {} }],
  ])('lists again after a malformed event, %s, whose change is unknown', async (_name, event) => {
    const source = new FakeSource(
      page([['a', 3]], 7),
      page(
        [
          ['a', 3],
          ['b', 8],
        ],
        9,
      ),
    );
    const { informer, clock, reported, failures } = await started(source);
    await source.last.send(event as Event);
    await clock.advance(500);
    expect(source.lists).toHaveLength(2);
    expect(reported).toEqual(['added a@3', 'added b@8']);
    expect(failures.watch).toBe(1);
    await informer.stop();
  });

  test('repeats a failed list, and is not synced before', async () => {
    const { informer, clock } = await started(new FakeSource(new UnreachableError('away'), page([['a', 3]], 7)));
    expect(informer.hasSynced()).toBe(false);
    const synced = informer.whenSynced();
    await clock.advance(500);
    await synced;
    expect(informer.list()).toHaveLength(1);
    await informer.stop();
  });

  test('lists periodically if configured, and reports what no event reported', async () => {
    const source = new FakeSource(page([['a', 3]], 7), page([], 20));
    const { informer, clock, reported } = await started(source, { relistEveryMs: 10_000, silenceMs: 6000 });
    await clock.advance(6000);
    expect(source.watches).toHaveLength(2);
    await clock.advance(3999);
    expect(source.lists).toHaveLength(1);
    await clock.advance(1);
    expect(source.lists).toHaveLength(2);
    expect(reported).toEqual(['added a@3', 'deleted a@3']);
    await informer.stop();
  });

  test('ends the watch on stop, and leaves no timer', async () => {
    const { informer, source, clock } = await started(new FakeSource(page([], 7)), { relistEveryMs: 10_000 });
    await informer.stop();
    expect(source.last.signal.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test('ends on stop while it waits for another attempt', async () => {
    const { informer, clock } = await started(new FakeSource(new UnreachableError('away')));
    await informer.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('handlers', () => {
  test('that throw are counted, and end neither the watch nor other handlers', async () => {
    const { informer, source, reported, failures } = await started(new FakeSource(page([['a', 3]], 7)));
    informer.addHandler(() => {
      throw new Error('bug');
    });
    const later: string[] = [];
    informer.addHandler((type, now, old) => {
      later.push(`${type} ${now.metadata.resourceVersion} ${old?.metadata.resourceVersion ?? '-'}`);
    });
    await source.last.send({ type: 'MODIFIED', object: object('a', 8) });
    expect(reported).toEqual(['added a@3', 'updated a@8']);
    expect(later).toEqual(['added 3 -', 'updated 8 3']);
    expect(failures.handler).toBe(2);
    await informer.stop();
  });

  test('that were removed are not called', async () => {
    const { informer, source } = await started(new FakeSource(page([], 7)));
    const reported: string[] = [];
    const remove = informer.addHandler((type) => reported.push(type));
    remove();
    await source.last.send({ type: 'ADDED', object: object('a', 8) });
    expect(reported).toEqual([]);
    await informer.stop();
  });
});

test('transforms each page of a list before the next one is read', async () => {
  const transformed: string[] = [];
  const source = new FakeSource(page([['a', 3]], 7, 'more'), page([['b', 4]], 7));
  const listed = source.list.bind(source);
  source.list = (options) => {
    if (options.continue === 'more') expect(transformed).toEqual(['a']);
    return listed(options);
  };
  const transform = (one: KubernetesObject) => {
    transformed.push(one.metadata.name);
    return { ...one, kind: 'Part' };
  };
  const { informer } = await started(source, { transform });
  expect(transformed).toEqual(['a', 'b']);
  await source.last.send({ type: 'ADDED', object: object('c', 8) }, { type: 'BOOKMARK', object: object('', 20) });
  expect(informer.list().map(({ kind }) => kind)).toEqual(['Part', 'Part', 'Part']);
  expect(transformed).toEqual(['a', 'b', 'c']);
  await informer.stop();
});

test('reads by key and by index, without managedFields', async () => {
  const labelled = object('a', 8, { app: 'shop' });
  labelled.metadata.managedFields = [{ manager: 'x' }];
  const byApp = ({ metadata }: KubernetesObject) => Object.values(metadata.labels ?? {});
  const { informer, source } = await started(new FakeSource(page([], 7)), { indexes: { app: byApp } });
  await source.last.send({ type: 'ADDED', object: labelled });
  expect(informer.get('shop/a')).toEqual(object('a', 8, { app: 'shop' }));
  expect(informer.byIndex('app', 'shop')).toEqual([informer.get('shop/a')]);
  expect(informer.resourceVersion).toBe('8');
  await informer.stop();
});

describe('waitFor', () => {
  const isThere = (found: KubernetesObject | undefined) => found !== undefined;
  const isGone = (found: KubernetesObject | undefined) => found === undefined;

  test('resolves at once if the predicate holds', async () => {
    const { informer } = await started(new FakeSource(page([['a', 3]], 7)));
    expect(await informer.waitFor('shop/a', isThere, { timeoutMs: 1 })).toEqual(object('a', 3));
    await informer.stop();
  });

  test.each(['event', 'observe'])('resolves with the change that fulfils it: %s', async (by) => {
    const { informer, source, clock } = await started(new FakeSource(page([['a', 3]], 7)));
    const wait = informer.waitFor('shop/a', (found) => found?.metadata.resourceVersion === '9', { timeoutMs: 1000 });
    await source.last.send({ type: 'MODIFIED', object: object('a', 8) });
    if (by === 'event') await source.last.send({ type: 'MODIFIED', object: object('a', 9) });
    else informer.observe(object('a', 9));
    expect(await wait).toEqual(object('a', 9));
    expect(clock.pending).toBe(1); // The watchdog's.
    await informer.stop();
  });

  test('resolves with undefined for a deletion, but not before the first list', async () => {
    const source = new FakeSource(new UnreachableError('away'), page([['a', 3]], 7));
    const { informer, clock } = await started(source);
    let resolved = false;
    const wait = informer.waitFor('shop/a', isGone, { timeoutMs: 60_000 }).then(() => (resolved = true));
    await clock.advance(500);
    expect(resolved).toBe(false);
    await source.last.send({ type: 'DELETED', object: object('a', 8) });
    await wait;
    await informer.stop();
  });

  test('rejects on timeout, on abort, when the predicate throws, and when the informer stops', async () => {
    const { informer, clock } = await started(new FakeSource(page([], 7)));
    const aborting = new AbortController();
    const never = { timeoutMs: 1000 };
    const rejections = Promise.all([
      expect(informer.waitFor('shop/a', isThere, { timeoutMs: 10 })).rejects.toThrow(WaitTimeoutError),
      expect(informer.waitFor('shop/a', isThere, { ...never, signal: aborting.signal })).rejects.toThrow('left'),
      expect(informer.waitFor('shop/a', isThere, { ...never, signal: AbortSignal.abort() })).rejects.toThrow(),
      expect(
        informer.waitFor(
          'shop/a',
          () => {
            throw new Error('bug');
          },
          never,
        ),
      ).rejects.toThrow('bug'),
      expect(informer.waitFor('shop/a', isThere, never)).rejects.toThrow('stopped'),
    ]);
    await clock.advance(10);
    aborting.abort(new Error('left'));
    await informer.stop();
    await rejections;
    expect(clock.pending).toBe(0);
  });
});

describe('whenSeen', () => {
  test('resolves when a list, an event or a bookmark has reached the version', async () => {
    const source = new FakeSource(new UnreachableError('away'), page([['a', 3]], 5));
    const { informer, clock } = await started(source);
    const seen: string[] = [];
    for (const version of ['4', '5', '9', '10', '12']) {
      void informer.whenSeen(version, { timeoutMs: 60_000 }).then(() => seen.push(version));
    }
    await settle();
    expect(seen).toEqual([]);
    await clock.advance(500);
    expect(seen).toEqual(['4', '5']);
    await source.last.send({ type: 'MODIFIED', object: object('a', 10) });
    expect(seen).toEqual(['4', '5', '9', '10']);
    await source.last.send({ type: 'BOOKMARK', object: object('', 12) });
    expect(seen).toEqual(['4', '5', '9', '10', '12']);
    await informer.stop();
  });

  test("does not count this process's own writes as the writes of others before", async () => {
    const { informer, clock } = await started(new FakeSource(page([], 5)));
    informer.observe(object('a', 8));
    const seen = expect(informer.whenSeen('7', { timeoutMs: 1000 })).rejects.toThrow(WaitTimeoutError);
    await clock.advance(1000);
    await seen;
    await informer.stop();
  });
});
