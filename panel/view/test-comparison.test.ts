import { expect, test } from '@jest/globals';
import type { EnvironmentItem } from '../api/items.ts';
import { comparable, differenceText, usualBase } from './test-comparison.ts';

function item(name: string, more: { type?: 'branch' | 'tag'; status?: 'built' | 'empty' } = {}): EnvironmentItem {
  const { type = 'branch', status = 'built' } = more;
  return { id: `acme.shop-${name}`, gitRef: { name, type }, status } as EnvironmentItem;
}

test('compares with built branches, the usual bases first', () => {
  const items = [
    item('a'),
    item('develop'),
    item('v1', { type: 'tag' }),
    item('master', { status: 'empty' }),
    item('main'),
    item('own'),
  ];
  const found = comparable(items, 'acme.shop-own');
  expect(found.map(({ gitRef }) => gitRef.name)).toEqual(['main', 'develop', 'a']);
  expect(usualBase(found)?.gitRef.name).toBe('main');
  expect(usualBase(comparable([item('a')], 'x'))).toBeUndefined();
});

test.each([
  ['655', '412', '+59 %'],
  ['400', '412', '−3 %'],
  ['1001', '1000', '+0.1 %'],
  ['3', '0', '+3'],
  ['7', '7', undefined],
  ['fast', '7', undefined],
  ['7', undefined, undefined],
  ['', '7', undefined],
])('%j differs from %j by %j', (own, base, text) => {
  expect(differenceText(own, base)).toBe(text);
});
