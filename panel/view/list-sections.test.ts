import { expect, test } from '@jest/globals';
import { inSections, isSameItems } from './list-sections.ts';

test('splits a list into sections of equal size, and the rest', () => {
  expect(inSections([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(inSections([], 2)).toEqual([]);
});

test('compares lists by their objects', () => {
  const [one, other] = [{}, {}];
  expect(isSameItems([one, other], [one, other])).toBe(true);
  expect(isSameItems([one], [other])).toBe(false);
  expect(isSameItems([one], [one, other])).toBe(false);
});
