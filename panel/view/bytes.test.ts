import { expect, test } from '@jest/globals';
import { byteText } from './bytes.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1 kB'],
  [1240, '1.2 kB'],
  [999_999, '1 MB'],
  [340_000_000, '340 MB'],
  [1_200_000_000, '1.2 GB'],
  [5e15, '5000 TB'],
])('shows %d bytes as %s', (bytes, expected) => {
  expect(byteText(bytes)).toBe(expected);
});
