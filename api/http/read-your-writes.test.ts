import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Response } from 'express';
import { GROUP, type Group } from '../../crds/group.ts';
import { LABELS } from '../../crds/labels.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { FakeClock, settle } from '../../kubernetes/testing/fake-clock.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { setCaller } from '../auth/caller.ts';
import { Unavailable } from '../shared/errors.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { FakeRedis } from '../testing/fake-redis.ts';
import { LateInformer } from '../testing/late-informer.ts';
import { cachedKind, INDEXES } from '../cluster/caches.ts';
import { FreshCache } from '../cluster/fresh-cache.ts';
import { USER_RECORD } from '../user-records/user-record.ts';
import { ReadYourWrites } from './read-your-writes.ts';
import { WrittenVersions } from '../cluster/written-versions.ts';

const alice = 'user-alice';
const group = (name: string): Group => ({
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Group',
  metadata: { name },
  spec: { members: ['alice@example.com'] },
});

let now: number;
let cluster: FakeCluster;
let redis: FakeRedis;
/** The replica that writes, and one whose watch is delayed. */
let here: ReadYourWrites;
let hereCache: FreshCache<Group>;
let there: ReadYourWrites;
let late: LateInformer<Group>;
let cache: FreshCache<Group>;

beforeEach(() => {
  now = 1_000_000;
  redis = new FakeRedis(() => now);
  cluster = new FakeCluster(new FakeClock());
  const written = () => new WrittenVersions(redis, silentLogger);
  hereCache = cluster.cacheOf<Group>(GROUP, INDEXES.groups);
  here = new ReadYourWrites(written(), new Map([[GROUP.kind, hereCache]]));
  late = new LateInformer<Group>(INDEXES.groups);
  late.cache.replace({ items: [], resourceVersion: '1' });
  const list = () => Promise.resolve({ items: cluster.all<Group>(GROUP), resourceVersion: '99' });
  cache = new FreshCache({ informer: late, indexes: INDEXES.groups, list });
  there = new ReadYourWrites(written(), new Map([[GROUP.kind, cache]]));
});

/** Sends a request of a user at one replica; resolves with the result of `work` once the request is let through. */
function request<T>(replica: ReadYourWrites, name: string, work: () => Promise<T>): Promise<T> {
  const response = { locals: {} } as unknown as Response;
  const user = { name, accountId: 'a', email: 'alice@example.com', passwordHash: '', verified: true };
  setCaller(response, { user, access: 'administer', reach: undefined, credential: { token: 't', source: 'header' } });
  return new Promise((resolve, reject) => {
    const passed: unknown = replica.middleware()({} as never, response, () => {
      work().then(resolve, reject);
    });
    Promise.resolve(passed).catch(reject);
  });
}
const read = (name: string) => request(there, name, () => Promise.resolve(cache.get('acme')?.metadata.name));
const create = () => request(here, alice, () => here.writer(cluster).create<Group>(GROUP, group('acme')));

/** Returns what the promise resolves with once the delayed replica stops waiting for its watch. */
async function afterTimeout<T>(promise: Promise<T>): Promise<T> {
  await settle();
  await late.giveUp();
  return promise;
}

describe('a write of a user at one replica', () => {
  test('is read by that user at another replica whose watch is behind', async () => {
    await create();
    expect(await afterTimeout(read(alice))).toBe('acme');
  });

  test('is read as soon as the watch has reported it', async () => {
    const written = await create();
    const reading = read(alice);
    await settle();
    late.cache.take({ type: 'ADDED', object: written });
    await late.giveUp();
    expect(await reading).toBe('acme');
  });

  test('does not delay other users', async () => {
    await create();
    expect(await read('user-bob')).toBeUndefined();
  });

  test('delays reads for at most a minute', async () => {
    await create();
    now += 60_000;
    expect(await read(alice)).toBeUndefined();
  });

  test('is recorded as the newest version, whichever of two writes is recorded last', async () => {
    const written = new WrittenVersions(redis, silentLogger);
    await written.note(alice, 'Group', '100');
    await written.note(alice, 'Group', '20');
    await written.note(alice, 'Environment', '7');
    expect(await written.of(alice)).toEqual([
      { kind: 'Group', resourceVersion: '100' },
      { kind: 'Environment', resourceVersion: '7' },
    ]);
  });

  test('is also recorded for a patch or deletion', async () => {
    const { metadata } = cluster.add<Group>(GROUP, group('acme'));
    const at = { name: metadata.name };
    late.cache.replace({ items: cluster.all<Group>(GROUP), resourceVersion: String(metadata.resourceVersion) });
    expect(await read(alice)).toBe('acme');
    await request(here, alice, async () => {
      hereCache.observe(await here.writer(cluster).patch<Group>(GROUP, at, { spec: { displayName: 'Acme' } }));
    });
    const name = request(there, alice, () => Promise.resolve(cache.get('acme')?.spec.displayName));
    expect(await afterTimeout(name)).toBe('Acme');
    await request(here, alice, () => here.writer(cluster).delete(GROUP, at, { uid: metadata.uid }));
    const [noted] = await redis.zRangeWithScores(`coppice:written:${alice}`);
    expect(String(noted?.score)).toBe(hereCache.resourceVersion);
  });
});

test('records a registration for the new user', async () => {
  await here.as(alice, () => here.writer(cluster).create<Group>(GROUP, group('acme')));
  expect(await afterTimeout(read(alice))).toBe('acme');
});

test('does not record writes without a user, or of kinds without a cache', async () => {
  await here.writer(cluster).create<Group>(GROUP, group('acme'));
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'group-acme', name: 'values' } };
  await request(here, alice, () => here.writer(cluster).create(Secret, secret));
  expect(await redis.zRangeWithScores(`coppice:written:${alice}`)).toEqual([]);
});

test('keeps writes while Redis is away, and does not delay reads', async () => {
  const writing = request(here, alice, () => {
    redis.failure = new Error('ECONNREFUSED redis://secret@redis');
    return here.writer(cluster).create<Group>(GROUP, group('acme'));
  });
  expect((await writing).metadata.name).toBe('acme');
  await expect(read(alice)).rejects.toThrow(Unavailable);
});

test('records the version of a user record, but not of other Secrets, for the cache of user records', async () => {
  const written = new WrittenVersions(redis, silentLogger);
  const users = new Map([['User', cluster.cacheOf<Secret>(Secret, INDEXES.users)]]);
  const replica = new ReadYourWrites(written, users, cachedKind);
  const create = (name: string, labels: Record<string, string>) =>
    request(replica, alice, () =>
      replica.writer(cluster).create<Secret>(Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'coppice-users', name, labels },
      }),
    );
  await create('an-invitation', {});
  expect(await written.of(alice)).toEqual([]);
  const { metadata } = await create('user-alice', { [LABELS.record]: USER_RECORD });
  expect(await written.of(alice)).toEqual([{ kind: 'User', resourceVersion: metadata.resourceVersion }]);
});
