import { expect, test } from '@jest/globals';
import { formatId, groupNamespace, groupOfNamespace, parseId } from './ids.ts';

test.each([
  ['acme.shop-main', { group: 'acme', name: 'shop-main' }],
  ['acme', undefined],
  ['acme.shop.main', undefined],
  ['acme.', undefined],
  ['Acme.shop', undefined],
  ['acme.__proto__', undefined],
  ['../x.y', undefined],
])('parses the ID %j', (text, expected) => {
  expect(parseId(text)).toEqual(expected);
});

test('parses the IDs that it formats, and finds the group of a namespace', () => {
  expect(parseId(formatId({ group: 'a-b', name: 'c' }))).toEqual({ group: 'a-b', name: 'c' });
  expect(groupOfNamespace(groupNamespace('acme'))).toBe('acme');
  expect(groupOfNamespace('kube-system')).toBeUndefined();
});
