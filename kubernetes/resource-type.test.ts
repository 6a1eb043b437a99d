import { describe, expect, test } from '@jest/globals';
import { apiVersionOf, compareResourceVersions, Deployment, objectKey, Pod, splitKey } from './resource-type.ts';

test.each([
  ['shop', 'web', 'shop/web'],
  [undefined, 'shop', 'shop'],
  ['', 'shop', 'shop'],
])('joins %p and %p to %p, and splits it again', (namespace, name, key) => {
  expect(objectKey(namespace, name)).toBe(key);
  expect(splitKey(key)).toEqual(namespace ? { namespace, name } : { name });
});

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['10', '10', 0],
  ['99999999999999999998', '99999999999999999999', -1],
  [undefined, '1', -1],
  ['1', undefined, 1],
  [undefined, undefined, 0],
])('compares the resource versions %p and %p with the sign %p', (a, b, sign) => {
  expect(Math.sign(compareResourceVersions(a, b))).toBe(sign);
});

describe('apiVersionOf', () => {
  test.each([
    [Pod, 'v1'],
    [Deployment, 'apps/v1'],
  ])('returns that of $kind', (type, apiVersion) => {
    expect(apiVersionOf(type)).toBe(apiVersion);
  });
});
