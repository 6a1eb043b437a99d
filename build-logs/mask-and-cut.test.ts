import { describe, expect, test } from '@jest/globals';
import { cutLine, MAX_LINE_BYTES } from './cut.ts';
import { createMask } from './mask.ts';

describe('mask', () => {
  test.each<[string, string[], string, string]>([
    ['every occurrence', ['hunter2'], 'a hunter2 b hunter2', 'a *** b ***'],
    ['the longest first', ['pass', 'password1'], 'password1 pass', '*** ***'],
    ['overlapping secrets as one', ['abcd', 'cdef'], 'xabcdefx', 'x***x'],
    ['a secret that overlaps itself', ['abab'], 'ababab', '***'],
    ['neighbours each', ['abcd', 'efgh'], 'abcdefgh', '******'],
    ['not what is shorter than 4 characters', ['abc', ''], 'abc', 'abc'],
    ['special characters as they are', ['a.c*(d'], 'abcd a.c*(d', 'abcd ***'],
    ['as part of a URL', ['p@ss/word'], 'https://u:p%40ss%2Fword@git', 'https://u:***@git'],
    ['each line of a secret', ['line one\r\n  line two\nx'], 'line two, x', '***, x'],
    ['nothing without secrets', [], 'abcd', 'abcd'],
    ['a secret that is no well-formed text', ['abc\ud800'], 'abc\ud800', '***'],
  ])('%s', (_, secrets, line, masked) => {
    expect(createMask(secrets)(line)).toBe(masked);
  });
});

describe('cut', () => {
  test.each(['', 'short', 'x'.repeat(MAX_LINE_BYTES), 'ä'.repeat(MAX_LINE_BYTES / 2)])(
    'a line that fits stays',
    (line) => {
      expect(cutLine(line)).toBe(line);
    },
  );

  test.each([
    ['x'.repeat(MAX_LINE_BYTES + 1), MAX_LINE_BYTES],
    ['x' + 'ä'.repeat(MAX_LINE_BYTES), MAX_LINE_BYTES - 1],
    ['xx' + '🌳'.repeat(MAX_LINE_BYTES), MAX_LINE_BYTES - 2],
  ])('a longer one is cut between characters, and says so', (line, kept) => {
    const [beginning = '', mark] = cutLine(line).split('… ');
    expect(Buffer.byteLength(beginning)).toBe(kept);
    expect(line.startsWith(beginning)).toBe(true);
    expect(mark).toBe(`[the line is cut: it has ${Buffer.byteLength(line)} bytes]`);
  });
});
