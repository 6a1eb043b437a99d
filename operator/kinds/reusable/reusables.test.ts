import { describe, expect, test } from '@jest/globals';
import type { ReusableEnvironment, ReusableEnvironmentStatus } from '../../../crds/reusable-environment.ts';
import { formerReusableName, reusableName } from '../../../crds/reusable-environment.ts';
import { Reusables } from './reusables.ts';

const name = reusableName('shop', 'base');
const key = `group-acme/${name}`;
const shop = { group: 'acme', name: 'shop' };

interface World {
  object: Partial<ReusableEnvironment['metadata']>;
  status: ReusableEnvironmentStatus;
  hasRepository: boolean;
}

/** Returns a world with one ReusableEnvironment, and records what is written to it. */
function world({ object = {}, status = {}, hasRepository = true }: Partial<World> = {}, isThere = true) {
  const written: ReusableEnvironmentStatus[] = [];
  const found = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'ReusableEnvironment',
    metadata: { namespace: 'group-acme', name, uid: 'r1', ...object },
    spec: { repository: 'shop', label: 'base' },
    status,
  };
  const parts = {
    reusables: { get: (at: string) => (isThere && at === key ? found : undefined) },
    repositories: { get: () => (hasRepository ? { metadata: { name: 'shop' } } : undefined) },
    statuses: { write: (_object: object, one: ReusableEnvironmentStatus) => Promise.resolve(written.push(one)) },
    now: () => new Date('2026-01-05T00:00:00Z'),
  };
  return { reusables: new Reusables(parts as unknown as ConstructorParameters<typeof Reusables>[0]), written };
}

const going = { deletionTimestamp: '2026-01-04T00:00:00Z' };
const content = { from: undefined, publication: 'p', builtAt: '2026-01-02T00:00:00Z', images: [], volumes: [] };

describe('publishing', () => {
  test.each<[string, Partial<World>, boolean, boolean]>([
    ['as the first', {}, true, true],
    ['after an earlier build', { status: { builtAt: '2026-01-01T00:00:00Z' } }, true, true],
    ['after a later build', { status: { builtAt: '2026-01-03T00:00:00Z' } }, true, false],
    ['while it is being deleted', { object: going }, true, false],
    ['after it was deleted', {}, false, false],
  ])('%s', async (_, there, isThere, isPublished) => {
    const { reusables, written } = world(there, isThere);
    expect(await reusables.publish(key, content as never)).toBe(isPublished);
    expect(written).toHaveLength(isPublished ? 1 : 0);
  });
});

test.each([
  ['finds the object under its former name', 'base', true],
  ['does not find an object of another label under that name', 'other', false],
])('%s', (_, label, isFound) => {
  const at = `group-acme/${formerReusableName('shop', 'base')}`;
  const object = { metadata: {}, spec: { repository: 'shop', label }, status: { publication: 'p' } };
  const parts = { reusables: { get: (key: string) => (key === at ? object : undefined) } };
  const reusables = new Reusables(parts as unknown as ConstructorParameters<typeof Reusables>[0]);
  expect(reusables.published(shop, 'base')).toBe(isFound ? object : undefined);
});

test.each<[string, Partial<World>, string]>([
  [
    'a former one that is being deleted',
    { object: going },
    'the previous reusable environment of this label is being deleted',
  ],
  ['a Repository that does not exist', { hasRepository: false }, 'there is no Repository shop'],
])('waits for %s with its own message', async (_, there, words) => {
  await expect(world(there).reusables.ensure(shop, 'base')).rejects.toThrow(words);
});

test('records what an environment is seeded from before any of it can be removed', async () => {
  const { reusables } = world({ status: { publication: 'p' } });
  const done: string[] = [];
  const noted = reusables.whilePublished(shop, 'base', async ({ status }) => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(`noted ${status?.publication ?? ''}`);
  });
  await Promise.all([noted, reusables.locked(key, () => Promise.resolve(done.push('removed')))]);
  expect(done).toEqual(['noted p', 'removed']);
});

test.each<[string, Partial<World>, boolean]>([
  ['nothing has been published', {}, true],
  ['it is being deleted', { object: going, status: { publication: 'p' } }, true],
  ['it does not exist', {}, false],
])('seeds nothing from a label while %s', async (_, there, isThere) => {
  const { reusables } = world(there, isThere);
  expect(await reusables.whilePublished(shop, 'base', () => Promise.resolve('started'))).toBeUndefined();
});
