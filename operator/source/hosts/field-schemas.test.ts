import { expect, test } from '@jest/globals';
import { commitSchema, isReadableRef, numberSchema } from './field-schemas.ts';

test.each<[unknown, boolean]>([
  [1, true],
  [999_999_999, true],
  [0, false],
  [1e9, false],
  [1.5, false],
])('reads the number %s', (number, isFine) => {
  expect(numberSchema.safeParse(number).success).toBe(isFine);
});

test.each([
  ['a'.repeat(40), true],
  ['0123abc', true],
  ['abc', false],
  ['A'.repeat(40), false],
  ['a'.repeat(65), false],
  ['--upload-pack=x', false],
])('reads the commit %s', (commit, isFine) => {
  expect(commitSchema.safeParse(commit).success).toBe(isFine);
});

test.each([
  ['refs/heads/x/y', true],
  ['refs/heads/-x', true],
  ['refs/heads/x y', false],
  ['refs/heads/../x', false],
  [`refs/heads/${'x'.repeat(245)}`, false],
])('reads the ref %s', (name, isFine) => {
  expect(isReadableRef(name)).toBe(isFine);
});
