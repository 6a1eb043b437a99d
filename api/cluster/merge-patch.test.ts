import { expect, test } from '@jest/globals';
import { composePatches } from './merge-patch.ts';

test.each<[object, object, object | undefined]>([
  [{}, { a: 1 }, { a: 1 }],
  [{ a: 1, b: 1 }, { b: 2 }, { a: 1, b: 2 }],
  [{ a: 1 }, { a: null }, { a: null }],
  [{ a: null }, { a: 1 }, { a: 1 }],
  [{ a: [1] }, { a: [2] }, { a: [2] }],
  [{ a: { b: 1, c: 1 } }, { a: { b: null } }, { a: { b: null, c: 1 } }],
  [{ a: { b: 1 } }, { a: null }, { a: null }],
  // One patch cannot empty an object and then set fields of it.
  [{ a: null }, { a: { b: 1 } }, undefined],
  [{ a: { b: null } }, { a: { b: { c: 1 } } }, undefined],
])('merges %j and %j into %j', (first, second, both) => expect(composePatches(first, second)).toEqual(both));
