import { describe, expect, test } from '@jest/globals';
import type { Group } from '../../crds/group.ts';
import { FINALIZER } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { UnreachableError } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { FakeClock } from '../../kubernetes/testing/fake-clock.ts';
import { Conflict } from '../shared/errors.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { conditionsPatch, fakeCaches, readyAfterCreate } from '../testing/test-api.ts';
import { ServiceFileTexts } from './service-file-texts.ts';
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
  const randomBytes = (size: number) => Buffer.alloc(size);
  const service = new RepositoryService({
    cluster,
    cache,
    texts: new ServiceFileTexts(cluster, randomBytes),
    randomBytes,
  });
  return { clock, cluster, cache, service };
}

function refusal(message: string) {
  return { name: 'Invalid', details: [{ path: 'params', message: expect.stringContaining(message) }] };
}

function notReady(reason: string, message: string) {
  const head = { status: 'False', observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' };
  return { status: { conditions: [{ ...head, type: 'Ready', reason, message }] } };
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
        annotations: { 'coppice.dev/credentials-for': 'https://git.example' },
        ownerReferences: [{ kind: 'Repository', name: 'my-shop', uid: metadata.uid }],
      },
      data: { username: Buffer.from('bot').toString('base64'), password: Buffer.from('hunter2').toString('base64') },
    },
  ]);
  expect(JSON.stringify(cluster.all<Repository>(REPOSITORY))).not.toContain('hunter2');
});

test('what the operator refuses is taken away again, and its message reported', async () => {
  const { cluster, cache, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => {
    if (type.kind === 'Repository') cluster.change(type, metadata, conditionsPatch('Stalled', 'no such host'));
  };
  await expect(service.add(group, secret)).rejects.toMatchObject(refusal('no such host'));
  expect(cluster.all(REPOSITORY)).toEqual([]);
  expect(cache.get('group-acme/my-shop')).toBeUndefined();
});

test.each([
  ['a reason that may pass', notReady('Retrying', 'git.example: no answer'), 'git.example: no answer'],
  ['nothing but having taken it up', { metadata: { finalizers: [FINALIZER] } }, 'did not respond within 10 s'],
])('taken away again when after 10 s the operator says %s', async (_name, reported, message) => {
  const { clock, cluster, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => {
    if (type.kind === 'Repository') cluster.change(type, metadata, reported);
  };
  const added = expect(service.add(group, wanted)).rejects.toMatchObject(refusal(message));
  await clock.advance(10_000);
  await added;
  expect(cluster.all(REPOSITORY)).toEqual([]);
});

test('a key that the host does not know yet: answered at once, for the user to see the key', async () => {
  const { cluster, service } = setUp();
  const sshPublicKey = 'ssh-ed25519 AAAA';
  cluster.afterCreate = (type, { metadata }) => {
    const { status } = notReady('KeyNotAccepted', 'enter the key');
    cluster.change(type, metadata, { status: { ...status, sshPublicKey } });
  };
  const origin = 'git@git.example:shop.git';
  const added = await service.add(group, { ...wanted, params: { ...wanted.params, origin } });
  expect(added).toMatchObject({ spec: { generic: { origin } }, status: { sshPublicKey } });
  expect(cluster.all(REPOSITORY)).toHaveLength(1);
});

test('without any readiness in 10 s it is answered as it stands', async () => {
  const { clock, service } = setUp();
  const added = service.add(group, wanted);
  await clock.advance(10_000);
  expect((await added).status).toBeUndefined();
});

test('a token is in the Secret under the key token', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const params = { owner: 'acme', repo: 'shop', instanceUrl: undefined, token: 'hunter2' };
  const { spec } = await service.add(group, { name: 'shop', type: 'ownerhost', params });
  expect(spec).toMatchObject({ type: 'ownerhost', ownerhost: { owner: 'acme', repo: 'shop' } });
  expect(cluster.all(Secret)).toMatchObject([
    {
      metadata: { name: spec.ownerhost?.credentialsSecret },
      data: { token: Buffer.from('hunter2').toString('base64') },
    },
  ]);
  expect(JSON.stringify(cluster.all<Repository>(REPOSITORY))).not.toContain('hunter2');
});

test('a name that is taken: Conflict, and no Secret', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  await service.add(group, wanted);
  await expect(service.add(group, { ...secret, name: 'my-shop' })).rejects.toBeInstanceOf(Conflict);
  expect(cluster.all(Secret)).toEqual([]);
});

test('the name of one that is going is waited for', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const former = await service.add(group, wanted);
  cluster.change(REPOSITORY, former.metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const again = service.add(group, wanted);
  await new Promise((resolve) => setImmediate(resolve));
  cluster.remove(REPOSITORY, former.metadata);
  expect((await again).metadata.uid).not.toBe(former.metadata.uid);
});

test('… for 20 s at most', async () => {
  const { clock, cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const former = await service.add(group, wanted);
  cluster.change(REPOSITORY, former.metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const again = expect(service.add(group, wanted)).rejects.toMatchObject({
    name: 'Conflict',
    message: expect.stringContaining('still being deleted'),
  });
  await clock.advance(20_000);
  await again;
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

describe('a name is one repository’s of its group', () => {
  const repositoryOf = (name: string, displayName?: string): Repository => ({
    apiVersion: 'v',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name },
    spec: { type: 'generic', generic: { origin: 'https://git.example/x.git' }, ...(displayName && { displayName }) },
  });
  const names = (cluster: FakeCluster) =>
    cluster.all<Repository>(REPOSITORY).map(({ metadata, spec }) => spec.displayName ?? metadata.name);
  const taken = new Conflict('a repository of this name already exists in the group. Choose another name');

  /** With the repositories shop and docs; at the next upTo() the watch reports what `write` does at another replica. */
  function setUpTwo(write?: (cluster: FakeCluster) => void) {
    const { cluster, cache, service } = setUp();
    const shop = cluster.add(REPOSITORY, repositoryOf('shop', 'The shop'));
    const docs = cluster.add(REPOSITORY, repositoryOf('docs'));
    const upTo = cache.upTo.bind(cache);
    cache.upTo = async (version) => {
      write?.(cluster);
      await upTo(version);
    };
    return { cluster, cache, service, shop, docs };
  }

  test.each(['The shop', 'other'])('a repository is renamed to %s only where nobody has the name', async (name) => {
    const { cluster, service, docs } = setUpTwo();
    const renamed = service.rename(docs, name);
    if (name === 'other') await expect(renamed).resolves.toMatchObject({ spec: { displayName: name } });
    else await expect(renamed).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['The shop', name === 'other' ? 'other' : 'docs']);
  });

  test.each(['the SHOP', 'Ｔhe shop'])('a name that looks like another one is taken: %s', async (name) => {
    const { service, shop, docs } = setUpTwo();
    await expect(service.rename(docs, name)).rejects.toEqual(taken);
    await expect(service.rename(shop, name)).resolves.toMatchObject({ spec: { displayName: name } });
  });

  test('it may be given the name that it has, and the name of one that is being deleted', async () => {
    const { cluster, service, shop, docs } = setUpTwo();
    await service.rename(shop, 'The shop');
    cluster.change(REPOSITORY, shop.metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await expect(service.rename(docs, 'The shop')).resolves.toMatchObject({ spec: { displayName: 'The shop' } });
  });

  test.each([
    ['had none', undefined],
    ['had one', 'The docs'],
  ])('a rename that another replica was faster with is taken back: it %s before', async (_what, former) => {
    const { cluster, service, docs } = setUpTwo((other) =>
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { displayName: 'Wanted' } }),
    );
    if (former) cluster.change(REPOSITORY, docs.metadata, { spec: { displayName: former } });
    await expect(service.rename(docs, 'Wanted')).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['Wanted', former ?? 'docs']);
  });

  test('what was written meanwhile is not taken back', async () => {
    const { cluster, service, docs } = setUpTwo((other) => {
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { displayName: 'Wanted' } });
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'docs' }, { spec: { displayName: 'Third' } });
    });
    await expect(service.rename(docs, 'Wanted')).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['Wanted', 'Third']);
  });

  test('none is added by a name that a renamed one has, nor by one that another replica gives meanwhile', async () => {
    const { cluster, service } = setUpTwo((other) => {
      const rename = { spec: { displayName: 'Meanwhile' } };
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'docs' }, rename);
    });
    await expect(service.add(group, { ...wanted, name: 'The shop' })).rejects.toEqual(taken);
    await expect(service.add(group, { ...wanted, name: 'Meanwhile' })).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['The shop', 'Meanwhile']);
  });

  test('of two renames at once one at most succeeds', async () => {
    const { cluster, service, shop, docs } = setUpTwo();
    await Promise.allSettled([service.rename(shop, 'Wanted'), service.rename(docs, 'Wanted')]);
    expect(names(cluster).filter((name) => name === 'Wanted').length).toBeLessThanOrEqual(1);
  });
});
