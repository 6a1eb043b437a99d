import { expect, test } from '@jest/globals';
import type { KubernetesObject } from '../kubernetes/resource-type.ts';
import { isStatusOnly } from './routing.ts';

const object = (metadata: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', uid: 'u', generation: 1, annotations: { a: '1' }, ...metadata },
});

test.each([
  ['a new object', object({}), undefined, false],
  ['a status', object({ resourceVersion: '2' }), object({ resourceVersion: '1' }), true],
  ['a spec', object({ generation: 2 }), object({}), false],
  ['a request', object({ annotations: { a: '2' } }), object({}), false],
  ['a deletion', object({ deletionTimestamp: 'now' }), object({}), false],
  ['a finalizer', object({ finalizers: ['x'] }), object({}), false],
  ['another object of the name', object({ uid: 'v' }), object({}), false],
])('%s', (_what, changed, old, expected) => {
  expect(isStatusOnly(changed, old)).toBe(expected);
});
