import { beforeEach, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { ApiError, UnreachableError } from '../../kubernetes/api-error.ts';
import { FakeClock, settle } from '../../kubernetes/testing/fake-clock.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { HttpError, TooManyRequests } from '../shared/errors.ts';
import type { ClusterWriter } from './caches.ts';
import { MAX_WAITING } from './object-queue.ts';
import { orderedWriter } from './ordered-writer.ts';

const at = { namespace: 'group-acme', name: 'shop-main' };
const other = { namespace: 'group-rival', name: 'shop-main' };

let cluster: FakeCluster;
let writer: ClusterWriter;
let refused: string[];
/** Complete the writes in flight, in the order in which they started. */
let inFlight: (() => void)[];

beforeEach(() => {
  cluster = new FakeCluster(new FakeClock());
  for (const metadata of [at, other]) {
    cluster.add<Environment>(ENVIRONMENT, {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Environment',
      metadata: { ...metadata, uid: `uid of ${metadata.namespace}` },
      spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    });
  }
  refused = [];
  inFlight = [];
  const held: ClusterWriter['patch'] = async (...sent) => {
    await new Promise<void>((resolve) => inFlight.push(resolve));
    return cluster.patch(...sent);
  };
  const requests = {
    find: cluster.find.bind(cluster),
    create: cluster.create.bind(cluster),
    delete: cluster.delete.bind(cluster),
    patch: held,
  };
  writer = orderedWriter(requests, { refused: (limit) => refused.push(limit) });
});

const annotate = (name: string, value = name, where = at) =>
  writer.patch<Environment>(ENVIRONMENT, where, { metadata: { annotations: { [name]: value } } });

async function finishAll(): Promise<number> {
  let writes = 0;
  for (await settle(); inFlight.length > 0; await settle()) {
    expect(inFlight).toHaveLength(1);
    inFlight.shift()?.();
    writes += 1;
  }
  return writes;
}

describe('patches of one object', () => {
  test('are sent one at a time, and those that wait are combined into one write', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => annotate(name));
    expect(await finishAll()).toBe(2);
    const written = await Promise.all(all);
    expect(written[0]?.metadata.annotations).toEqual({ a: 'a' });
    for (const { metadata } of written.slice(1)) {
      expect(metadata.annotations).toEqual({ a: 'a', b: 'b', c: 'c', d: 'd' });
    }
  });

  test('are refused beyond a limit of waiting ones, and can be sent again', async () => {
    const all = Array.from({ length: 40 }, (_, index) => annotate(`request-${index}`));
    const outcomes = Promise.allSettled(all);
    expect(await finishAll()).toBe(2);
    const failed = (await outcomes).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(failed).toHaveLength(40 - 1 - MAX_WAITING);
    for (const error of failed) {
      expect(error).toBeInstanceOf(TooManyRequests);
      expect(error instanceof HttpError && error.headers).toEqual({ 'Retry-After': '1' });
    }
    expect(refused).toHaveLength(failed.length);
    const again = annotate('again');
    expect(await finishAll()).toBe(1);
    expect((await again).metadata.annotations).toMatchObject({ again: 'again' });
  });

  test('do not wait for patches of other objects', async () => {
    const all = [annotate('a'), annotate('a', 'a', other)];
    await settle();
    expect(inFlight).toHaveLength(2);
    for (const finish of inFlight) finish();
    await Promise.all(all);
  });

  test('are written separately when made for another UID or resource version', async () => {
    const first = annotate('a');
    const wrong = writer.patch(ENVIRONMENT, at, { metadata: { uid: 'former', annotations: { b: 'b' } } });
    const conditional = writer.patch(ENVIRONMENT, at, { metadata: {} }, { resourceVersion: '0' });
    const last = annotate('c');
    const outcomes = Promise.allSettled([first, wrong, conditional, last]);
    expect(await finishAll()).toBe(4);
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect((await last).metadata.annotations).toEqual({ a: 'a', c: 'c' });
  });

  test('are applied in order', async () => {
    const all = [annotate('a', '1'), annotate('a', '2'), annotate('a', '3')];
    await finishAll();
    expect((await Promise.all(all)).map(({ metadata }) => metadata.annotations?.['a'])).toEqual(['1', '3', '3']);
  });

  test('are sent one by one after their combined write is refused', async () => {
    const patch = cluster.patch.bind(cluster);
    const wrong = /wrong/;
    cluster.patch = (type, where, sent, options) =>
      wrong.test(JSON.stringify(sent))
        ? Promise.reject(new ApiError('patch', 422, 'Invalid', 'wrong'))
        : patch(type, where, sent, options);
    const outcomes = Promise.allSettled([annotate('a'), annotate('b'), annotate('wrong'), annotate('c')]);
    await finishAll();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(cluster.all(ENVIRONMENT)[0]?.metadata.annotations).toEqual({ a: 'a', b: 'b', c: 'c' });
  });

  test('are not sent again after a write without a response', async () => {
    const outcomes = Promise.allSettled([annotate('a'), annotate('b'), annotate('c')]);
    cluster.patchFailures.set('Environment', new UnreachableError('timeout'));
    expect(await finishAll()).toBe(2);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

test('runs tasks that read and write one object one at a time, without waiting for themselves', async () => {
  const order: string[] = [];
  const work = (name: string) =>
    writer.exclusively(ENVIRONMENT, at, async () => {
      order.push(`${name} starts`);
      await annotate(name);
      order.push(`${name} ends`);
    });
  const all = [work('a'), work('b')];
  await finishAll();
  await Promise.all(all);
  expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
});
