import { expect, test } from '@jest/globals';
import type { Group } from '../../crds/group.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { UnreachableError } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { FakeClock } from '../../kubernetes/testing/fake-clock.ts';
import { Conflict, Invalid } from '../http/errors.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { conditionsPatch, fakeCaches, readyAfterCreate } from '../testing/test-api.ts';
import { RepositoryService } from './repository-service.ts';

const group: Group = { apiVersion: 'v', kind: 'Group', metadata: { name: 'acme' }, spec: { members: [] } };
const wanted = {
  name: 'My Shop',
  type: 'generic',
  params: { origin: 'https://git.example/shop.git', username: '', password: '' },
} as const;
const secret = { ...wanted, params: { ...wanted.params, username: 'bot', password: 'hunter2' } };

function setUp() {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const { repositories: cache } = fakeCaches(cluster);
  const service = new RepositoryService({ cluster, cache, randomBytes: (size) => Buffer.alloc(size) });
  return { clock, cluster, cache, service };
}

test('a repository without credentials has no Secret', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  expect(await service.add(group, wanted)).toMatchObject({
    metadata: { namespace: 'group-acme', name: 'my-shop' },
    spec: { displayName: 'My Shop', type: 'generic', generic: { origin: wanted.params.origin } },
    status: { conditions: [{ type: 'Ready' }] },
  });
  expect(cluster.all(Secret)).toEqual([]);
});

test('credentials are in a Secret that the Repository owns, and nowhere else', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const { metadata, spec } = await service.add(group, secret);
  expect(spec.generic?.credentialsSecret).toBe('repository-my-shop-aaaaa');
  expect(cluster.all(Secret)).toMatchObject([
    {
      metadata: {
        namespace: 'group-acme',
        name: 'repository-my-shop-aaaaa',
        ownerReferences: [{ kind: 'Repository', name: 'my-shop', uid: metadata.uid }],
      },
      data: { username: Buffer.from('bot').toString('base64'), password: Buffer.from('hunter2').toString('base64') },
    },
  ]);
  expect(JSON.stringify(cluster.all<Repository>(REPOSITORY))).not.toContain('hunter2');
});

test('what the operator refuses is taken away again, and its message told', async () => {
  const { cluster, cache, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => {
    if (type.kind === 'Repository') cluster.change(type, metadata, conditionsPatch('Stalled', 'no such host'));
  };
  const refusal = await service.add(group, secret).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Invalid);
  expect(refusal).toMatchObject({ details: [{ path: 'params', message: 'no such host' }] });
  expect(cluster.all(REPOSITORY)).toEqual([]);
  expect(cache.get('group-acme/my-shop')).toBeUndefined();
});

test('without a verdict in 10 s it is answered as it stands', async () => {
  const { clock, service } = setUp();
  const added = service.add(group, wanted);
  await clock.advance(10_000);
  expect((await added).status).toBeUndefined();
});

test('a name that is taken: Conflict, and no Secret', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  await service.add(group, wanted);
  await expect(service.add(group, { ...secret, name: 'my-shop' })).rejects.toBeInstanceOf(Conflict);
  expect(cluster.all(Secret)).toEqual([]);
});

test('nothing is left when the Secret cannot be written', async () => {
  const { cluster, service } = setUp();
  const create = cluster.create.bind(cluster);
  cluster.create = async (type, object) => {
    if (type.kind === 'Secret') throw new UnreachableError('POST');
    return create(type, object);
  };
  await expect(service.add(group, secret)).rejects.toBeInstanceOf(UnreachableError);
  expect(cluster.all(REPOSITORY)).toEqual([]);
});
