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
    ['in a URL by another rule', ["it's (a) p~ss"], 'it%27s%20%28a%29%20p~ss it%27s+%28a%29+p%7Ess', '*** ***'],
    ['in a URL in small letters', ['p@ss/word'], 'p%40ss%2fword', '***'],
    ['without the newline at its end', ['hunter2\n'], 'hunter2', '***'],
    ['inside of JSON', ['a"quoted\\one'], '{"password":"a\\"quoted\\\\one"}', '{"password":"***"}'],
    ['each long line of a secret', ['line one\r\n  line two\nshort'], 'line two, short', '***, short'],
    ['a secret of several lines in JSON', ['line one\nline two\n'], '"line one\\nline two\\n"', '"***\\n***\\n"'],
    ['nothing without secrets', [], 'abcd', 'abcd'],
    ['a secret that is no well-formed text', ['abc\ud800'], 'abc\ud800', '***'],
  ])('%s', (_, secrets, line, masked) => {
    expect(createMask(secrets)(line)).toBe(masked);
  });
});

describe('mask, in base64', () => {
  const secret = 'correct horse battery?>';
  const encode = (text: string, encoding: BufferEncoding = 'base64') => Buffer.from(text).toString(encoding);

  test.each(['', 'u', 'us', 'user:', 'x-token:'])('after %j', (before) => {
    for (const after of ['', '\n', '!!']) {
      const masked = createMask([secret])(`Basic ${encode(before + secret + after)} end`);
      expect(masked).toMatch(/^Basic \S*\*\*\* ?\S* end$|^Basic \S{0,12}\*\*\*\S{0,8} end$/);
      expect(masked.length).toBeLessThan('Basic  end'.length + 24);
    }
  });

  test('in the alphabet of URLs', () => {
    expect(createMask([secret])(encode(secret, 'base64url'))).toMatch(/^\*\*\*\S{0,4}$/);
  });

  test('a key of several lines as a whole', () => {
    const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(20)}-----END KEY-----\n`;
    expect(createMask([key])(`KEY=${encode(key)}`)).toMatch(/^KEY=\*\*\*\S{0,4}$/);
  });

  test('a short secret is not looked for: so few characters stand in other texts too', () => {
    expect(createMask(['test'])(encode('test'))).toBe(encode('test'));
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
