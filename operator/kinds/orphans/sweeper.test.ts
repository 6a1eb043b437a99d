import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import type { Observed } from './find.ts';
import { OrphanSweeper } from './sweeper.ts';

const minute = 60_000;
let now: number;
let deleted: string[];
let counted: number;
let world: Observed;
let ownerIsThere: boolean;
/** Owners that were requested from the API server. */
let asked: Set<string>;
/** Errors of deletions by the object's name. */
let refusals: Map<string, Error>;

const namespace = (number: number, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: `env-shop-${number}--acme`,
    uid: `ns-${number}`,
    labels: {
      'coppice.dev/group': 'acme',
      'coppice.dev/environment': `shop-${number}`,
      'coppice.dev/environment-uid': `u${number}`,
    },
    annotations: { 'coppice.dev/owner-uid': `u${number}` },
    ...more,
  },
});

const builder = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    namespace: 'builders',
    name: 'group-acme',
    uid: 'b1',
    labels: { 'coppice.dev/group': 'acme', 'coppice.dev/builder': 'group-acme' },
  },
};

beforeEach(() => {
  now = 0;
  deleted = [];
  ownerIsThere = false;
  asked = new Set();
  refusals = new Map();
  world = { environments: [], groups: [], namespaces: [namespace(1)], jobs: [], builderSecrets: [] };
});

function sweeper(): OrphanSweeper {
  const client = {
    find: ({ kind }: { kind: string }, { namespace = '', name }: { namespace?: string; name: string }) => {
      asked.add(`${kind} ${namespace}/${name}`);
      return Promise.resolve(ownerIsThere ? {} : undefined);
    },
    delete: (_type: unknown, { name }: { name: string }, { uid }: { uid: string }) => {
      const refusal = refusals.get(name);
      if (refusal) return Promise.reject(refusal);
      deleted.push(`${name} ${uid}`);
      return Promise.resolve();
    },
  };
  const count = (orphans: readonly unknown[]) => void (counted = orphans.length);
  const observe = () => world;
  return new OrphanSweeper({ client: client as never, observe, count, now: () => new Date(now), logger: silentLogger });
}

/** Sweeps as often as the controller would in these minutes. */
async function sweepFor(made: OrphanSweeper, minutes: number): Promise<void> {
  for (const end = now + minutes * minute; now <= end; now += minute) await made.sweep();
}

test('removes objects without an owner after some minutes, by their UID', async () => {
  const made = sweeper();
  await sweepFor(made, 4);
  expect([deleted, counted]).toEqual([[], 1]);
  await sweepFor(made, 1);
  expect(deleted).toEqual(['env-shop-1--acme ns-1', 'env-shop-1--acme ns-1']);
});

test('starts the minutes again when the owner existed in between', async () => {
  const made = sweeper();
  await sweepFor(made, 4);
  const { namespaces } = world;
  world = { ...world, namespaces: [] };
  await made.sweep();
  world = { ...world, namespaces };
  await sweepFor(made, 4);
  expect(deleted).toEqual([]);
});

test.each([
  ['the API server knows its owner', () => (ownerIsThere = true)],
  ['it is already being deleted', () => (world = { ...world, namespaces: [namespace(1, { deletionTimestamp: 'T' })] })],
  [
    'another object has taken its name',
    () => refusals.set('env-shop-1--acme', new ApiError('DELETE', 409, 'Conflict', 'the UID differs')),
  ],
])('keeps it when %s', async (_why, arrange) => {
  arrange();
  await sweepFor(sweeper(), 6);
  expect(deleted).toEqual([]);
});

test('tries again what cannot be removed, and continues with others', async () => {
  world = { ...world, namespaces: [namespace(1), namespace(2)] };
  refusals.set('env-shop-1--acme', new ApiError('DELETE', 403, 'Forbidden', 'a webhook denied it'));
  const made = sweeper();
  await sweepFor(made, 5);
  expect(new Set(deleted)).toEqual(new Set(['env-shop-2--acme ns-2']));
  refusals.clear();
  await made.sweep();
  expect(deleted).toContain('env-shop-1--acme ns-1');
});

test("removes a group's builder when the API server does not know the group either", async () => {
  world = { ...world, namespaces: [], builderSecrets: [builder] };
  ownerIsThere = true;
  const made = sweeper();
  await sweepFor(made, 6);
  expect([deleted, [...asked]]).toEqual([[], ['Group /acme']]);
  ownerIsThere = false;
  await made.sweep();
  expect(deleted).toEqual(['group-acme b1']);
});

test('removes a limited number at once', async () => {
  world = { ...world, namespaces: Array.from({ length: 50 }, (_, number) => namespace(number)) };
  const made = sweeper();
  await sweepFor(made, 4);
  await made.sweep();
  expect(counted).toBe(50);
  expect(deleted).toHaveLength(20);
});

test('is repeated while orphans wait for their deletion, and no longer', async () => {
  const made = sweeper();
  expect(await made.run()).toEqual({ message: '0 orphans deleted, 1 kept', repeatAfterMs: 5 * minute });
  now += 5 * minute;
  expect(await made.run()).toEqual({ message: '1 orphans deleted, 0 kept' });
  world = { ...world, namespaces: [namespace(1, { deletionTimestamp: 'T' })] };
  expect(await made.run()).toEqual({ message: '0 orphans deleted, 1 kept' });
});
