import { expect, test } from '@jest/globals';
import { oneLine } from './one-line.ts';

test.each([
  ['two\nlines\tand\r\nmore', 'two lines and more'],
  ['  spaces  ', 'spaces'],
  ['a\u001b[31mred\u202eback', 'aredback'],
  ['x'.repeat(300), `${'x'.repeat(139)}…`],
])('a description is one bounded line: %j', (text, line) => {
  expect(oneLine(text)).toBe(line);
});
