import { expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import { holdsSameRef, isOldestOfItsRef } from './clones.ts';

function environment(name: string, ref = 'main', fields: object = {}): Environment {
  const metadata = { namespace: 'group-a', name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    metadata: { ...metadata, ...fields },
    spec: { repository: 'shop', gitRef: { name: ref, type: 'branch' } },
  } as Environment;
}

const main = environment('main');

test.each<[string, Environment, boolean]>([
  ['itself', environment('main'), false],
  ['one of the same ref', environment('other'), true],
  ['one of another ref', environment('other', 'dev'), false],
  ['one in another namespace', environment('other', 'main', { namespace: 'group-b' }), false],
  ['one that is being deleted', environment('other', 'main', { deletionTimestamp: '2026-01-02T00:00:00Z' }), false],
])('%s: is an environment of the same ref: %s', (_what, other, expected) => {
  expect(holdsSameRef(main, other)).toBe(expected);
});

test('treats all but the oldest environment of a ref as clones, ordered by name within a second', () => {
  const later = environment('a', 'main', { creationTimestamp: '2026-01-01T00:00:01Z' });
  const sameSecond = environment('b');
  const all = [later, main, sameSecond, environment('x', 'dev')];
  expect(all.filter((one) => isOldestOfItsRef(one, all)).map(({ metadata }) => metadata.name)).toEqual(['b', 'x']);
});
