import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ObjectList } from '../../kubernetes/client-options.ts';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { settle } from '../../kubernetes/testing/fake-clock.ts';
import { LateInformer } from '../testing/late-informer.ts';
import { FreshCache } from './fresh-cache.ts';

const object = (name: string, version: number, metadata: Partial<KubernetesObject['metadata']> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(version), ...metadata },
});
const indexes = { name: ({ metadata }: KubernetesObject) => [metadata.name] };
const key = (name: string) => objectKey('shop', name);

let informer: LateInformer<KubernetesObject>;
let lists: PromiseWithResolvers<ObjectList<KubernetesObject>>[];
let cache: FreshCache<KubernetesObject>;

beforeEach(() => {
  informer = new LateInformer(indexes);
  informer.cache.replace({ items: [object('a', 3), object('b', 4)], resourceVersion: '5' });
  lists = [];
  cache = new FreshCache({
    informer,
    indexes,
    list: () => {
      const list = Promise.withResolvers<ObjectList<KubernetesObject>>();
      lists.push(list);
      return list.promise;
    },
  });
});

/** Returns the state of the promise, which changes when the promise settles. */
function followed(promise: Promise<void>) {
  const state = { done: false, failure: undefined as unknown };
  promise.then(
    () => (state.done = true),
    (error: unknown) => (state.failure = error),
  );
  return state;
}

describe('upTo', () => {
  test('reads at once what the watch has reported', async () => {
    await cache.upTo('5');
    expect(lists).toHaveLength(0);
  });

  test('waits for the watch, and then lists nothing', async () => {
    const read = followed(cache.upTo('7'));
    informer.cache.take({ type: 'MODIFIED', object: object('a', 7) });
    await informer.giveUp();
    expect(read.done).toBe(true);
    expect(lists).toHaveLength(0);
  });

  test('lists once when the watch is late, until it has caught up', async () => {
    const read = followed(cache.upTo('7'));
    await informer.giveUp();
    expect(read.done).toBe(false);
    // This list does not contain b, so it was deleted.
    lists[0]?.resolve({ items: [object('a', 7)], resourceVersion: '9' });
    await settle();
    expect(read.done).toBe(true);
    expect(cache.get(key('a'))?.metadata.resourceVersion).toBe('7');
    expect(cache.get(key('b'))).toBeUndefined();
    expect(cache.byIndex('name', 'b')).toEqual([]);
    expect(cache.resourceVersion).toBe('9');
    await cache.upTo('8');
    expect(lists).toHaveLength(1);

    cache.observe(object('c', 10));
    expect(cache.get(key('c'))).toBeDefined();

    informer.cache.take({ type: 'ADDED', object: object('d', 11) });
    expect(cache.get(key('d'))).toBeDefined();
    expect(cache.resourceVersion).toBe('11');
  });

  test('shares the next list among reads that arrive during a list, which may be older than their write', async () => {
    const first = followed(cache.upTo('7'));
    await informer.giveUp();
    const [second, third] = [followed(cache.upTo('8')), followed(cache.upTo('8'))];
    await informer.giveUp();
    expect(lists).toHaveLength(1);
    lists[0]?.resolve({ items: [], resourceVersion: '7' });
    await settle();
    expect([first.done, second.done, third.done]).toEqual([true, false, false]);
    expect(lists).toHaveLength(2);
    lists[1]?.resolve({ items: [], resourceVersion: '8' });
    await settle();
    expect([second.done, third.done]).toEqual([true, true]);
    expect(lists).toHaveLength(2);
  });

  test('accepts a list after a restore, when versions recorded before are never reached', async () => {
    const read = followed(cache.upTo('900'));
    await informer.giveUp();
    lists[0]?.resolve({ items: [], resourceVersion: '6' });
    await settle();
    expect(read.done).toBe(true);
  });

  test('fails the read when its list fails, and lists again for the next read', async () => {
    const failed = followed(cache.upTo('7'));
    await informer.giveUp();
    lists[0]?.reject(new Error('refused'));
    await settle();
    expect(failed.failure).toEqual(new Error('refused'));
    const read = followed(cache.upTo('7'));
    await informer.giveUp();
    lists[1]?.resolve({ items: [], resourceVersion: '7' });
    await settle();
    expect(read.done).toBe(true);
  });
});

describe('withoutDeleted', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

  test.each([
    ['does not exist', 'c', 'uid-c'],
    ['was replaced by another one of its name', 'a', 'uid-before'],
  ])('resolves at once when the object %s', async (_name, name, uid) => {
    await cache.withoutDeleted(key(name), uid);
    expect(lists).toHaveLength(0);
  });

  test.each([
    ['that it is gone', { type: 'DELETED', object: object('a', 7) }],
    ['that it is going', { type: 'MODIFIED', object: object('a', 7, going) }],
  ] as const)('waits until the watch has reported %s', async (_name, event) => {
    const read = followed(cache.withoutDeleted(key('a'), 'uid-a'));
    await settle();
    expect(read.done).toBe(false);
    informer.cache.take(event);
    await informer.giveUp();
    expect(read.done).toBe(true);
    expect(cache.resourceVersion).toBe('7');
  });

  test('lists when the watch is late', async () => {
    const read = followed(cache.withoutDeleted(key('a'), 'uid-a'));
    await informer.giveUp();
    lists[0]?.resolve({ items: [], resourceVersion: '7' });
    await settle();
    expect(read.done).toBe(true);
    expect(cache.get(key('a'))).toBeUndefined();
  });
});
