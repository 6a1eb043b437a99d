import { expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import { Removal } from './removal.ts';

function environment(
  name: string,
  change: { branch?: string; labels?: Record<string, string>; deleted?: boolean } = {},
): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      name,
      namespace: 'group-acme',
      uid: name,
      labels: change.labels ?? { 'app.kubernetes.io/managed-by': 'coppice' },
      ...(change.deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      repository: 'shop',
      gitRef: { name: change.branch ?? 'main', type: 'branch' },
      active: true,
      buildOnCreate: true,
    },
  };
}

/** The cache contains the first state unless another one is given. */
function clusterWith(environments: Environment[], cached = environments) {
  const left = new Map(environments.map((one) => [one.metadata.name, one]));
  const asked: string[] = [];
  const client = {
    find: async (_type: object, { name }: { name: string }) => {
      asked.push(name);
      const found = left.get(name);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return found;
    },
    delete: (_type: object, { name }: { name: string }) => {
      left.delete(name);
      return Promise.resolve();
    },
  } as unknown as Pick<ClusterClient, 'find' | 'delete'>;
  return { removal: new Removal(client, { byIndex: () => cached }), left, asked };
}

const mine = environment('mine');

test.each([
  ['the last on its ref stays', [mine], false],
  ['deletes one of two', [mine, environment('other')], true],
  ['another ref does not count', [mine, environment('other', { branch: 'feature' })], false],
  ['does not count one that is being deleted', [mine, environment('other', { deleted: true })], false],
])('%s', async (_what, environments, removed) => {
  const { removal, left } = clusterWith(environments);
  expect(await removal.removeObject(mine)).toBe(removed);
  expect(left.has('mine')).toBe(!removed);
});

test('leaves the deletion of an applied object to whoever applied it', async () => {
  const applied = environment('applied', { labels: {} });
  const { removal, left } = clusterWith([applied, environment('other')]);
  expect(await removal.removeObject(applied)).toBe(false);
  expect(left.has('applied')).toBe(true);
});

test.each<[string, Partial<Environment['metadata']>, boolean]>([
  ['on the server', { managedFields: [{ manager: 'argocd', operation: 'Apply' }] }, false],
  ['by its client', { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } }, false],
  ['by nobody but Coppice', { managedFields: [{ manager: 'coppice-api', operation: 'Update' }] }, true],
  [
    'by nobody, although Coppice applies its status',
    { managedFields: [{ manager: 'x', operation: 'Apply', subresource: 'status' }] },
    true,
  ],
  [
    'by nobody, although an administrator has edited it',
    { managedFields: [{ manager: 'y', operation: 'Update' }] },
    true,
  ],
])('keeps an object that Coppice created and that was applied since %s', async (_how, metadata, removed) => {
  const live = { ...mine, metadata: { ...mine.metadata, ...metadata } };
  const { removal } = clusterWith([live, environment('other')], [mine, environment('other')]);
  expect(await removal.removeObject(mine)).toBe(removed);
});

test('keeps one of several that end at once', async () => {
  const all = ['a', 'b', 'c'].map((name) => environment(name));
  const { removal, left } = clusterWith(all);
  await Promise.all(all.map((one) => removal.removeObject(one)));
  expect(left.size).toBe(1);
});

test('keeps one of several that end at once under two operators with separate caches', async () => {
  const other = environment('other');
  // The other operator has deleted its object, which this one's cache does not show yet.
  const { removal, left } = clusterWith([mine], [mine, other]);
  expect(await removal.removeObject(mine)).toBe(false);
  expect(left.has('mine')).toBe(true);
});

test.each([
  ['is being deleted', environment('other', { deleted: true })],
  ['was replaced by another one of its name', environment('other', { branch: 'feature' })],
])('does not count a cached one that %s', async (_what, other) => {
  const { removal } = clusterWith([mine, other], [mine, environment('other')]);
  expect(await removal.removeObject(mine)).toBe(false);
});

test('confirms only one, however many there are', async () => {
  const gone = environment('gone');
  const all = [mine, ...['a', 'b', 'c'].map((name) => environment(name))];
  const { removal, asked } = clusterWith(all, [gone, ...all]);
  expect(await removal.removeObject(mine)).toBe(true);
  expect(asked).toEqual(['gone', 'a', 'mine']);
});
