import { ANNOTATIONS } from '../../crds/labels.ts';
import { expect, test } from '@jest/globals';
import { GROUP, type Group } from '../../crds/group.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { FakeClock } from '../../kubernetes/testing/fake-clock.ts';
import { Conflict, Unavailable } from '../shared/errors.ts';
import { conditionsPatch, fakeCaches, readyAfterCreate } from '../testing/test-api.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { GroupService } from './group-service.ts';

const alice = {
  name: 'user-1',
  accountId: 'a1',
  email: 'Alice.B@x.example'.toLowerCase(),
  passwordHash: '',
  verified: false,
};

function setUp() {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const { groups: cache } = fakeCaches(cluster);
  let count = 0;
  const service = new GroupService({ cluster, cache, randomBytes: (size) => Buffer.alloc(size, count++) });
  return { clock, cluster, cache, service };
}

const names = (cluster: FakeCluster) => cluster.all<Group>(GROUP).map(({ metadata }) => metadata.name);

test('creates a group with its creator as member, and returns when the operator has created its namespace', async () => {
  const { cluster, cache, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const group = await service.create(alice, 'acme', 'Acme Inc.');
  expect(group).toMatchObject({
    metadata: { annotations: { [ANNOTATIONS.createdBy]: 'a1' }, labels: { 'app.kubernetes.io/managed-by': 'coppice' } },
    spec: { members: ['alice.b@x.example'], displayName: 'Acme Inc.' },
    status: { conditions: [{ type: 'Ready' }] },
  });
  expect(cache.get('acme')).toEqual(group);
});

test('returns the group unchanged if it is not ready after 10 s', async () => {
  const { clock, service } = setUp();
  const created = service.create(alice, 'acme', 'acme');
  await clock.advance(10_000);
  expect((await created).status).toBeUndefined();
});

test("ignores the operator's report on an older generation", async () => {
  const { clock, cluster, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => cluster.change(type, metadata, conditionsPatch('Stalled', 'old', 0));
  const created = service.create(alice, 'acme', 'acme');
  await clock.advance(10_000);
  await expect(created).resolves.toBeDefined();
});

test('removes a group that cannot be set up, and says why', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => cluster.change(type, metadata, conditionsPatch('Stalled', 'not ours'));
  await expect(service.create(alice, 'acme', 'acme')).rejects.toThrow(
    new Conflict('the group cannot be set up: not ours'),
  );
  expect(names(cluster)).toEqual([]);
});

test('throws Conflict for a name that is taken', async () => {
  const { cluster, service } = setUp();
  await service.createOwn(alice);
  await expect(service.create(alice, 'alice-b', 'x')).rejects.toBeInstanceOf(Conflict);
  expect(names(cluster)).toEqual(['alice-b']);
});

test('takes no name whose namespace an administrator has prepared', async () => {
  const { cluster, service } = setUp();
  const namespace = (name: string, metadata: object) =>
    cluster.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } });
  await namespace('group-alice-b', { labels: { 'coppice.dev/group': 'alice-b' } });
  await namespace('group-former', { annotations: { [ANNOTATIONS.ownerUid]: 'u1' } });
  await expect(service.create(alice, 'alice-b', 'x')).rejects.toBeInstanceOf(Conflict);
  await service.createOwn(alice);
  cluster.afterCreate = readyAfterCreate(cluster);
  await service.create(alice, 'former', 'former');
  expect(names(cluster)).toEqual(['alice-b-aaaaa', 'former']);
});

test('names own groups after the address, with a suffix if that is taken', async () => {
  const { cluster, service } = setUp();
  await service.createOwn(alice);
  await service.createOwn({ ...alice, email: 'alice.b@y.example' });
  await service.createOwn({ ...alice, email: '+@y.example' });
  await service.createOwn({ ...alice, email: `${'x'.repeat(60)}@y.example` });
  await service.createOwn({ ...alice, email: `${'x'.repeat(60)}@z.example` });
  expect(names(cluster)).toEqual(['alice-b', 'alice-b-aaaaa', 'group', 'x'.repeat(50), `${'x'.repeat(44)}-bbbbb`]);
});

test('adds nothing to a group before it has its namespace', async () => {
  const { clock, cluster, service } = setUp();
  const group = await service.createOwn(alice);
  const waiting = service.awaitNamespace(group);
  const outcome = expect(waiting).rejects.toBeInstanceOf(Unavailable);
  await clock.advance(10_000);
  await outcome;
  cluster.change(GROUP, { name: 'alice-b' }, conditionsPatch('Ready'));
  await service.awaitNamespace(group);
});
