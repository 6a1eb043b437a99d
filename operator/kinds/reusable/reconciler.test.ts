import { expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../../crds/environment.ts';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../../crds/reusable-environment.ts';
import { ReusableReconciler, type ReusableReconcilerOptions } from './reconciler.ts';

const published: ReusableEnvironmentStatus = {
  publication: 'p2',
  builtAt: '2026-01-02T00:00:00Z',
  volumes: [{ name: 'data', claim: 'now', size: '1Gi' }],
};

/** Returns a claim of the store, by its owner and build time. */
function claim(name: string, builtAt: string, uid = 'r1') {
  return {
    metadata: {
      namespace: 'reusable-acme',
      name,
      uid: `uid-of-${name}`,
      labels: { 'coppice.dev/reusable-uid': uid },
      annotations: {
        'coppice.dev/built-at': builtAt,
        'coppice.dev/for-environment': 'group-acme/shop-main',
        'coppice.dev/for-environment-uid': 'u1',
      },
    },
  };
}

const claims = [
  claim('former', '2026-01-01T00:00:00Z'),
  claim('now', '2026-01-02T00:00:00Z'),
  claim('coming', '2026-01-03T00:00:00Z'),
  claim('of-another', '2026-01-01T00:00:00Z', 'r2'),
];

interface World {
  status: ReusableEnvironmentStatus;
  deleted: boolean;
  held: typeof claims;
  /** Status of an environment of the repository. */
  environment: EnvironmentStatus;
  publication: 'running' | 'succeeded' | 'failed';
}

/** Reconciles once; returns what it deleted, patched and wrote, and whether it requeues. */
async function reconcile({
  status = published,
  deleted = false,
  held = claims,
  environment = {},
  publication = 'running',
}: Partial<World> = {}) {
  const publisher = {
    metadata: { uid: 'u1' },
    status: { publication: { label: 'base', build: 3, result: publication } },
  };
  const gone: string[] = [];
  const patches: object[] = [];
  const written: ReusableEnvironmentStatus[] = [];
  const object: ReusableEnvironment = {
    apiVersion: 'v',
    kind: 'ReusableEnvironment',
    metadata: {
      namespace: 'group-acme',
      name: 'shop-base',
      uid: 'r1',
      finalizers: ['coppice.dev/cleanup'],
      ...(deleted && { deletionTimestamp: '2026-01-03T00:00:00Z' }),
    },
    spec: { repository: 'shop', label: 'base' },
    status,
  };
  const parts = {
    client: {
      delete: (_type: object, { name }: { name: string }) => Promise.resolve(gone.push(name)),
      patch: (_type: object, _at: object, patch: object) => Promise.resolve(patches.push(patch)),
    },
    reusables: { locked: (_key: string, work: (one: ReusableEnvironment) => Promise<unknown>) => work(object) },
    environments: {
      byIndex: () => [{ metadata: {}, status: environment }],
      get: (key: string) => (key === 'group-acme/shop-main' ? publisher : undefined),
    },
    volumeClaims: { byIndex: (_index: string, store: string) => (store === 'reusable-acme' ? held : []) },
    statuses: {
      write: (_object: object, one: ReusableEnvironmentStatus) => Promise.resolve(written.push(one)),
    },
    now: () => new Date('2026-01-03T00:00:00Z'),
  };
  const result = await new ReusableReconciler(parts as unknown as ReusableReconcilerOptions).reconcile('key');
  return { gone, patches, written, requeues: result.requeueAfterMs !== undefined };
}

const reading = (name: string): EnvironmentStatus => ({
  seed: {
    label: 'base',
    result: 'running',
    reusableUID: 'r1',
    publication: 'p',
    volumes: [{ name: 'data', claim: name, size: '1Gi' }],
  },
});

test.each<[string, Partial<World>, string[], boolean]>([
  [
    'a volume that a newer publication replaced is deleted, and the coming one is reconciled again',
    {},
    ['former'],
    true,
  ],
  ['does not requeue after a complete publication', { publication: 'succeeded' }, ['former'], false],
  ['deletes what a failed publication has left', { publication: 'failed' }, ['former', 'coming'], false],
  [
    'deletes it also before the first publication',
    { publication: 'failed', status: {} },
    ['former', 'now', 'coming'],
    false,
  ],
  ['does not delete a volume while an environment is seeded from it', { environment: reading('former') }, [], true],
  ['deletes nothing before the first publication', { status: {} }, [], true],
  [
    'deletes everything with the object, including running copies',
    { deleted: true },
    ['former', 'now', 'coming'],
    true,
  ],
  ['except claims that are being read', { deleted: true, environment: reading('now') }, ['former', 'coming'], true],
])('%s', async (_, world, gone, requeues) => {
  expect(await reconcile(world)).toMatchObject({ gone, requeues, patches: [] });
});

test('removes the object when it has no copies left', async () => {
  const held = claims.filter(({ metadata }) => metadata.name === 'of-another');
  const { gone, patches, requeues } = await reconcile({ deleted: true, held });
  expect([gone, patches, requeues]).toEqual([[], [{ metadata: { finalizers: [] } }], false]);
});

test('reports NotPublished on an applied object, and does not write an unchanged status', async () => {
  const [status] = (await reconcile({ status: {} })).written;
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NotPublished' }),
  );
  expect((await reconcile()).written).toEqual([]);
});
