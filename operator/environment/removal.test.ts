import { expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
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

function clusterWith(...environments: Environment[]) {
  const left = new Map(environments.map((one) => [one.metadata.name, one]));
  const client = {
    list: async () => {
      const items = [...left.values()];
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { items, resourceVersion: '1' };
    },
    delete: (_type: object, { name }: { name: string }) => {
      left.delete(name);
      return Promise.resolve();
    },
  } as unknown as Pick<ClusterClient, 'list' | 'delete'>;
  return { removal: new Removal(client), left };
}

const mine = environment('mine');

test.each([
  ['the last on its ref stays', [mine], false],
  ['one of two goes', [mine, environment('other')], true],
  ['another ref does not count', [mine, environment('other', { branch: 'feature' })], false],
  ['one that is going does not count', [mine, environment('other', { deleted: true })], false],
])('%s', async (_what, environments, removed) => {
  const { removal, left } = clusterWith(...environments);
  expect(await removal.removeObjectIfShared(mine)).toBe(removed);
  expect(left.has('mine')).toBe(!removed);
});

test('what somebody applied is theirs to delete', async () => {
  const applied = environment('applied', { labels: {} });
  const { removal, left } = clusterWith(applied, environment('other'));
  expect(await removal.removeObjectIfShared(applied)).toBe(false);
  expect(left.has('applied')).toBe(true);
});

test('of several that end at once, one stays', async () => {
  const all = ['a', 'b', 'c'].map((name) => environment(name));
  const { removal, left } = clusterWith(...all);
  await Promise.all(all.map((one) => removal.removeObjectIfShared(one)));
  expect(left.size).toBe(1);
});
