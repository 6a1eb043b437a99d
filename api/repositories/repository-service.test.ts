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
  sync: false,
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

test('creates no Secret for a repository without credentials', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  expect(await service.add(group, wanted)).toMatchObject({
    metadata: { namespace: 'group-acme', name: 'my-shop' },
    spec: { displayName: 'My Shop', type: 'generic', generic: { origin: wanted.params.origin } },
    status: { conditions: [{ type: 'Ready' }] },
  });
  expect(cluster.all(Secret)).toEqual([]);
});

test('stores credentials only in a Secret that the Repository owns', async () => {
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

test("removes a repository that the operator refuses, and reports the operator's message", async () => {
  const { cluster, cache, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => {
    if (type.kind === 'Repository') cluster.change(type, metadata, conditionsPatch('Stalled', 'no such host'));
  };
  await expect(service.add(group, secret)).rejects.toMatchObject(refusal('no such host'));
  expect(cluster.all(REPOSITORY)).toEqual([]);
  expect(cache.get('group-acme/my-shop')).toBeUndefined();
});

test.each([
  ['a reason that may be temporary', notReady('Retrying', 'git.example: no answer'), 'git.example: no answer'],
  ['nothing but having taken it up', { metadata: { finalizers: [FINALIZER] } }, 'did not respond within 10 s'],
])('removes a repository whose readiness after 10 s is %s', async (_name, reported, message) => {
  const { clock, cluster, service } = setUp();
  cluster.afterCreate = (type, { metadata }) => {
    if (type.kind === 'Repository') cluster.change(type, metadata, reported);
  };
  const added = expect(service.add(group, wanted)).rejects.toMatchObject(refusal(message));
  await clock.advance(10_000);
  await added;
  expect(cluster.all(REPOSITORY)).toEqual([]);
});

test('returns at once for a key that the host does not know yet, so that the user sees the key', async () => {
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

test('returns the repository unchanged if the operator does not report within 10 s', async () => {
  const { clock, service } = setUp();
  const added = service.add(group, wanted);
  await clock.advance(10_000);
  expect((await added).status).toBeUndefined();
});

test('stores a token in the Secret under the key token', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const params = { owner: 'acme', repo: 'shop', instanceUrl: undefined, token: 'hunter2' };
  const { spec } = await service.add(group, { name: 'shop', type: 'ownerhost', sync: false, params });
  expect(spec).toMatchObject({ type: 'ownerhost', ownerhost: { owner: 'acme', repo: 'shop' } });
  expect(cluster.all(Secret)).toMatchObject([
    {
      metadata: { name: spec.ownerhost?.credentialsSecret },
      data: { token: Buffer.from('hunter2').toString('base64') },
    },
  ]);
  expect(JSON.stringify(cluster.all<Repository>(REPOSITORY))).not.toContain('hunter2');
});

test('throws Conflict for a name that is taken, and creates no Secret', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  await service.add(group, wanted);
  await expect(service.add(group, { ...secret, name: 'my-shop' })).rejects.toBeInstanceOf(Conflict);
  expect(cluster.all(Secret)).toEqual([]);
});

test('waits while a repository of the name is being deleted', async () => {
  const { cluster, service } = setUp();
  cluster.afterCreate = readyAfterCreate(cluster);
  const former = await service.add(group, wanted);
  cluster.change(REPOSITORY, former.metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const again = service.add(group, wanted);
  await new Promise((resolve) => setImmediate(resolve));
  cluster.remove(REPOSITORY, former.metadata);
  expect((await again).metadata.uid).not.toBe(former.metadata.uid);
});

test('waits at most 20 s', async () => {
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

test('leaves nothing when the Secret cannot be written', async () => {
  const { cluster, service } = setUp();
  const create = cluster.create.bind(cluster);
  cluster.create = async (type, object) => {
    if (type.kind === 'Secret') throw new UnreachableError('POST');
    return create(type, object);
  };
  await expect(service.add(group, secret)).rejects.toBeInstanceOf(UnreachableError);
  expect(cluster.all(REPOSITORY)).toEqual([]);
});

describe('a repository name is unique in its group', () => {
  const repositoryOf = (name: string, displayName?: string): Repository => ({
    apiVersion: 'v',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name },
    spec: { type: 'generic', generic: { origin: 'https://git.example/x.git' }, ...(displayName && { displayName }) },
  });
  const names = (cluster: FakeCluster) =>
    cluster.all<Repository>(REPOSITORY).map(({ metadata, spec }) => spec.displayName ?? metadata.name);
  const taken = new Conflict('a repository of this name already exists in the group. Choose another name');

  /**
   * Sets up the repositories shop and docs. At the next upTo() the watch reports what `write` does at another
   * replica.
   */
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

  test.each(['The shop', 'other'])('renames a repository to %s only if no other has the name', async (name) => {
    const { cluster, service, docs } = setUpTwo();
    const renamed = service.rename(docs, name);
    if (name === 'other') await expect(renamed).resolves.toMatchObject({ spec: { displayName: name } });
    else await expect(renamed).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['The shop', name === 'other' ? 'other' : 'docs']);
  });

  test.each(['the SHOP', 'Ｔhe shop'])('treats a similar name as taken: %s', async (name) => {
    const { service, shop, docs } = setUpTwo();
    await expect(service.rename(docs, name)).rejects.toEqual(taken);
    await expect(service.rename(shop, name)).resolves.toMatchObject({ spec: { displayName: name } });
  });

  test("accepts the repository's own name, and that of a repository being deleted", async () => {
    const { cluster, service, shop, docs } = setUpTwo();
    await service.rename(shop, 'The shop');
    cluster.change(REPOSITORY, shop.metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await expect(service.rename(docs, 'The shop')).resolves.toMatchObject({ spec: { displayName: 'The shop' } });
  });

  test.each([
    ['had no display name', undefined],
    ['had one', 'The docs'],
  ])('reverts a rename when another replica was faster: it %s before', async (_what, former) => {
    const { cluster, service, docs } = setUpTwo((other) =>
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { displayName: 'Wanted' } }),
    );
    if (former) cluster.change(REPOSITORY, docs.metadata, { spec: { displayName: former } });
    await expect(service.rename(docs, 'Wanted')).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['Wanted', former ?? 'docs']);
  });

  test('does not revert what was written meanwhile', async () => {
    const { cluster, service, docs } = setUpTwo((other) => {
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'shop' }, { spec: { displayName: 'Wanted' } });
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'docs' }, { spec: { displayName: 'Third' } });
    });
    await expect(service.rename(docs, 'Wanted')).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['Wanted', 'Third']);
  });

  test('refuses to add a name that a renamed repository has, or that another replica gives meanwhile', async () => {
    const { cluster, service } = setUpTwo((other) => {
      const rename = { spec: { displayName: 'Meanwhile' } };
      other.change(REPOSITORY, { namespace: 'group-acme', name: 'docs' }, rename);
    });
    await expect(service.add(group, { ...wanted, name: 'The shop' })).rejects.toEqual(taken);
    await expect(service.add(group, { ...wanted, name: 'Meanwhile' })).rejects.toEqual(taken);
    expect(names(cluster)).toEqual(['The shop', 'Meanwhile']);
  });

  test('permits at most one of two concurrent renames', async () => {
    const { cluster, service, shop, docs } = setUpTwo();
    await Promise.allSettled([service.rename(shop, 'Wanted'), service.rename(docs, 'Wanted')]);
    expect(names(cluster).filter((name) => name === 'Wanted').length).toBeLessThanOrEqual(1);
  });
});
