import { expect, test } from '@jest/globals';
import { cutAtSpace, oneLine } from './one-line.ts';

test.each([
  ['two\nlines\tand\r\nmore', 'two lines and more'],
  ['  spaces  ', 'spaces'],
  ['a\u001b[31mred\u202eback', 'aredback'],
  ['x'.repeat(300), `${'x'.repeat(139)}…`],
])('returns one limited line of %j', (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test.each([
  ['all of it', 20, 'all of it'],
  ['curl -H secret-value', 12, 'curl -H…'],
  ['curl -H secret-value', 7, 'curl…'],
  ['secret-value', 8, '…'],
])('cuts between words: %j', (text, max, expected) => {
  expect(cutAtSpace(text, max)).toBe(expected);
});
