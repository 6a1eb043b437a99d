import { expect, test } from '@jest/globals';
import { bytesOf } from './quantity.ts';

test.each([
  ['20Gi', 20 * 2 ** 30],
  ['1.5G', 1.5e9],
  ['512', 512],
  ['3Ti', 3 * 2 ** 40],
])('%s is %d bytes', (quantity, bytes) => expect(bytesOf(quantity)).toBe(bytes));

test.each(['', 'Gi', '20 Gi', '20gb', '-1Gi', '1e3'])('%j is no amount of storage', (quantity) => {
  expect(() => bytesOf(quantity)).toThrow(RangeError);
});
