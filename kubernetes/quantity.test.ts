import { expect, test } from '@jest/globals';
import { quantityValue, smaller } from './quantity.ts';

test.each([
  ['512', 512],
  ['512Mi', 512 * 2 ** 20],
  ['20Gi', 20 * 2 ** 30],
  ['3Ti', 3 * 2 ** 40],
  ['500m', 0.5],
  ['1.5', 1.5],
  ['1.5G', 1.5e9],
  ['2e3', 2000],
  ['1G', 1e9],
])('reads %s as %d', (quantity, expected) => {
  expect(quantityValue(quantity)).toBe(expected);
});

test.each(['', 'x', 'Gi', '1Q', '20 Gi', '20gb'])('refuses %j', (text) => {
  expect(quantityValue(text)).toBeNaN();
});

test('compares quantities with different suffixes', () => {
  expect(smaller('1Gi', '1000Mi')).toBe('1000Mi');
  expect(smaller('900M', '1Gi')).toBe('900M');
});
