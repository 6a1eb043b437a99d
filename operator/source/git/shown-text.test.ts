import { expect, test } from '@jest/globals';
import { shownText } from './shown-text.ts';

test.each([
  ['a line', 'Fix the cart', 'Fix the cart'],
  ['controls', 'a\u001b[31mb\r\u0000c\td', 'a [31mb c d'],
  ['directions', 'a\u202eb\u2066c\u200fd', 'a b c d'],
  ['half a character', 'a\ud83d', 'a\ufffd'],
  ['nothing', '\u0007 ', ''],
])('shows a commit with %s as one line', (_what, text, expected) => {
  expect(shownText(text)).toBe(expected);
});

test('cuts a long line between characters', () => {
  const cut = shownText('😀'.repeat(500));
  expect(cut.length).toBeLessThanOrEqual(120);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut).toMatch(/^(😀)+…$/u);
});
