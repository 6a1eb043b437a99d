import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { hashOf, isSubset, project } from './subset.ts';

const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid });

test.each<[string, unknown, unknown, boolean]>([
  ['equal', { a: 1 }, { a: 1 }, true],
  ['the server added a default', { a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }, true],
  ['the order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['undefined names no field', { a: 1, b: undefined }, { a: 1 }, true],
  ['a value differs', { a: { b: 1 } }, { a: { b: 2 } }, false],
  ['a field is missing', { a: 1 }, {}, false],
  ['an empty list equals a missing one', { ingress: [] }, {}, true],
  ['an empty list is not a full one', { ingress: [] }, { ingress: ['x'] }, false],
  ['an empty map differs from a missing one', { selector: {} }, {}, false],
  ['null is not absent', { a: null }, {}, false],
  ['a scalar where a map was', { a: {} }, { a: 'x' }, false],
  ['defaults in a list of maps', { c: [{ name: 'x' }] }, { c: [{ name: 'x', pull: 'Always' }] }, true],
  ['a list grew', { subjects: [{ name: 'x' }] }, { subjects: [{ name: 'x' }, { name: 'intruder' }] }, false],
  ['a list shrank', { args: ['a', 'b'] }, { args: ['a'] }, false],
  ['a list in another order', { args: ['a', 'b'] }, { args: ['b', 'a'] }, false],
  ["another's finalizer", { metadata: { finalizers: ['a'] } }, { metadata: { finalizers: ['b', 'a'] } }, true],
  ['our finalizer is missing', { metadata: { finalizers: ['a'] } }, { metadata: { finalizers: ['b'] } }, false],
  [
    "another's owner reference",
    { metadata: { ownerReferences: [owner('1')] } },
    { metadata: { ownerReferences: [owner('2'), { ...owner('1'), controller: false }] } },
    true,
  ],
  [
    'finalizers elsewhere are a list like others',
    { spec: { finalizers: ['a'] } },
    { spec: { finalizers: ['a', 'b'] } },
    false,
  ],
  ['"1000m" is not "1": the applier remembers that', { cpu: '1000m' }, { cpu: '1' }, false],
  ['own properties only', { toString: 'x' }, {}, false],
])('compares subsets: %s', (_name, desired, live, expected) => {
  expect(isSubset(desired, live)).toBe(expected);
});

test('treats every JSON value as a subset of itself, and a map as one of a larger map', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => isSubset(value, value)));
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      (map, more) => isSubset(map, { ...map, 'one more': more }) || 'one more' in map,
    ),
  );
});

test('hashes values independently of the order of keys and of undefined', () => {
  expect(hashOf({ a: 1, b: { c: 2, d: 3 } })).toBe(hashOf({ b: { d: 3, c: 2 }, a: 1, e: undefined }));
  expect(hashOf({ a: 1 })).not.toBe(hashOf({ a: '1' }));
  expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]));
  expect(hashOf({})).not.toBe(hashOf([]));
});

test('hashes as former versions did, because hashes are stored and name objects', () => {
  expect(hashOf({ b: [1, undefined, { d: null, c: 'ä"' }], a: new Date(0), e: undefined })).toBe(
    '3c6988ce85f69dd4b5e2db1a5e829e68',
  );
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const former = (value: unknown) => {
    const sorted = (_key: string, nested: unknown) =>
      isRecord(nested)
        ? Object.fromEntries(Object.entries(nested as object).sort(([a], [b]) => (a < b ? -1 : 1)))
        : nested;
    return createHash('sha256').update(JSON.stringify({ value }, sorted)).digest('hex').slice(0, 32);
  };
  const keys = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.constantFrom('4294967294', '4294967295', '-1', '01', '__proto__'),
  );
  fc.assert(
    fc.property(fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue()))), (value) => {
      expect(hashOf(value)).toBe(former(value));
    }),
  );
});

test('compares subsets as their projection does', () => {
  const keys = fc.constantFrom('a', 'b', 'metadata', 'finalizers', 'ownerReferences');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 0, 1, 'x', '', true),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(keys, fc.oneof(fc.constant(undefined), tie('value')), { maxKeys: 3 }),
    ),
  }));
  const isEqual = (one: unknown, other: unknown) => hashOf(one) === hashOf(other);
  fc.assert(
    fc.property(value, value, (desired, other) => {
      const stored: unknown = JSON.parse(JSON.stringify(other));
      expect(isSubset(desired, stored)).toBe(isEqual(project(desired, stored), desired));
      const own: unknown = JSON.parse(JSON.stringify(desired));
      expect(isSubset(desired, own)).toBe(true);
    }),
  );
});
