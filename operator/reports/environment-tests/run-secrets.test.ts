import { expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import type { TestHistory } from '../../../crds/test-history.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { RunSecrets } from './run-secrets.ts';

const environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1' },
} as Environment;
const history: TestHistory = [
  { build: 1, finishedAt: '2026-01-01T00:00:00Z', tests: [{ name: 'home', outcome: 'passed', numbers: [['x', 1]] }] },
];
const kept = { build: 1, runs: { home: { ID: 'r1', Secret: 's1' } } };

/** A cluster with at most one Secret. */
function cluster(secret?: Secret) {
  const calls: string[] = [];
  const client = {
    find: () => Promise.resolve(secret),
    create: (_type: unknown, object: Secret) => {
      calls.push(`create ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
      secret = { ...object, metadata: { ...object.metadata, uid: 's-uid' } };
      return Promise.resolve(secret);
    },
    patch: (_type: unknown, { name }: { name: string }, { data }: { data: Record<string, string | null> }) => {
      calls.push(`patch ${name}`);
      const merged = Object.entries({ ...secret?.data, ...data });
      const left = merged.flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]));
      secret = { ...(secret as Secret), data: Object.fromEntries(left) };
      return Promise.resolve(secret);
    },
    delete: (_type: unknown, { name }: { name: string }, { uid }: { uid: string }) => {
      calls.push(`delete ${name} ${uid}`);
      secret = undefined;
      return Promise.resolve();
    },
  };
  return { secrets: new RunSecrets(client as never), client, calls, now: () => secret };
}

test('stores runs beside the Environment, in a Secret that is deleted with it', async () => {
  const { secrets, calls, now } = cluster();
  expect(await secrets.read(environment)).toEqual({ runs: undefined, history: [] });
  await secrets.write(environment, kept);
  expect(now()?.metadata.ownerReferences).toEqual([
    { apiVersion: 'coppice.dev/v1alpha1', kind: 'Environment', name: 'shop-main', uid: 'u1' },
  ]);
  expect(await secrets.read(environment)).toEqual({ runs: kept, history: [] });
  await secrets.write(environment, { ...kept, build: 2 });
  expect(await secrets.read(environment)).toEqual({ runs: { ...kept, build: 2 }, history: [] });
  await secrets.remove(environment);
  await secrets.remove(environment);
  expect(calls).toEqual(['create group-acme/tests-shop-main', 'patch tests-shop-main', 'delete tests-shop-main s-uid']);
});

test('neither reads, writes nor deletes a Secret of that name that belongs to somebody else', async () => {
  const foreign: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'tests-shop-main', uid: 'x' } };
  const { secrets, calls } = cluster(foreign);
  for (const use of [secrets.read(environment), secrets.write(environment, kept), secrets.remove(environment)]) {
    await expect(use).rejects.toThrow('the Secret tests-shop-main does not belong to the environment. Delete it');
  }
  expect(calls).toEqual([]);
});

test.each<[number, boolean]>([
  [403, true],
  [500, false],
])('leaves a Secret whose deletion is answered %i, or tries again', async (code, isLeft) => {
  const { secrets, client } = cluster();
  await secrets.write(environment, kept);
  client.delete = () => Promise.reject(new ApiError('DELETE', code, 'x', 'by a policy'));
  const removal = secrets.remove(environment).then(
    () => true,
    () => false,
  );
  expect(await removal).toBe(isLeft);
});

test('treats unreadable contents as empty', async () => {
  const { secrets, now } = cluster();
  await secrets.write(environment, kept);
  const secret = now();
  if (secret) secret.data = { 'runs.json': Buffer.from('{').toString('base64') };
  expect(await secrets.read(environment)).toEqual({ runs: undefined, history: [] });
});

test('keeps the history when the runs are removed, and deletes it with the Environment', async () => {
  const { secrets, calls, now } = cluster();
  await secrets.write(environment, kept);
  await secrets.writeHistory(environment, history);
  expect(await secrets.read(environment)).toEqual({ runs: kept, history });
  await secrets.remove(environment);
  expect(await secrets.read(environment)).toEqual({ runs: undefined, history });
  expect(calls.at(-1)).toBe('patch tests-shop-main');
  expect(now()?.metadata.ownerReferences).toMatchObject([{ name: 'shop-main', uid: 'u1' }]);
});
