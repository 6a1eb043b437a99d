import { expect, test } from '@jest/globals';
import { visibleText } from './visible-text.ts';

test.each([
  ['main', 'main'],
  ['fix/\u202Etxt.exe', 'fix/⟨U+202E⟩txt.exe'],
  ['a\u0000\u001b[31mb', 'a⟨U+0000⟩⟨U+001B⟩[31mb'],
  ['pay\u200bpal', 'pay⟨U+200B⟩pal'],
  ['line\u2028break\n', 'line⟨U+2028⟩break⟨U+000A⟩'],
  ['grün ✓ 日本 👩‍💻', 'grün ✓ 日本 👩‍💻'],
  ['<script>alert(1)</script>', '<script>alert(1)</script>'],
])('shows %j as %s', (text, expected) => {
  expect(visibleText(text)).toBe(expected);
});
