import { describe, expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { stripControls } from './controls.ts';
import { cutLine, MAX_LINE_BYTES } from './cut.ts';
import { createLineMask, createMask, maskLines, type LineEnd } from './mask.ts';
import { MAX_SECRET } from './masking/secret-forms.ts';

describe('mask', () => {
  test.each<[string, string[], string, string]>([
    ['every occurrence', ['hunter2'], 'a hunter2 b hunter2', 'a *** b ***'],
    ['the longest first', ['pass', 'password1'], 'password1 pass', '*** ***'],
    ['overlapping secrets as one', ['abcd', 'cdef'], 'xabcdefx', 'x***x'],
    ['a secret that overlaps itself', ['abab'], 'ababab', '***'],
    ['neighbours each', ['abcd', 'efgh'], 'abcdefgh', '******'],
    ['not values shorter than 4 characters', ['abc', ''], 'abc', 'abc'],
    ['special characters as they are', ['a.c*(d'], 'abcd a.c*(d', 'abcd ***'],
    ['as part of a URL', ['p@ss/word'], 'https://u:p%40ss%2Fword@git', 'https://u:***@git'],
    ['in a URL by another rule', ["it's (a) p~ss"], 'it%27s%20%28a%29%20p~ss it%27s+%28a%29+p%7Ess', '*** ***'],
    ['in a URL in small letters', ['p@ss/word'], 'p%40ss%2fword', '***'],
    ['without the newline at its end', ['hunter2\n'], 'hunter2', '***'],
    ['inside of JSON', ['a"quoted\\one'], '{"password":"a\\"quoted\\\\one"}', '{"password":"***"}'],
    ['each long line of a secret', ['line one\r\n  line two\nshort'], 'line two, short', '***, short'],
    ['a secret of several lines in JSON', ['line one\nline two\n'], '"line one\\nline two\\n"', '"***\\n"'],
    ['and with the newlines of Windows', ['line one\r\nline two'], '"line one\\r\\nline two"', '"***"'],
    ['nothing without secrets', [], 'abcd', 'abcd'],
    ['a secret that is not a well-formed text', ['abcd\ud800'], 'abcd\ud800', '***\ud800'],
    ['only punctuation', [`'"\`\\`], `x '"\`\\ x`, 'x *** x'],
    ['mostly punctuation, with what is not seen', ['a"%a"'], 'x a"\u200b%\u001b[0ma"', 'x ***'],
    ['mostly punctuation that contains what is not seen', ['a"\u200b%a"'], 'a"%a"', '***'],
    ['characters beyond ASCII', ['Schlüssel🔑'], 'der Schlüssel🔑!', 'der ***!'],
    ['those escaped in a URL', ['Schlüssel🔑'], 'k=Schl%C3%BCssel%f0%9f%94%91;', 'k=***;'],
    [
      'those escaped by Rust and by C',
      ['Schlüssel🔑'],
      '\\u{53}chl\\u{fc}ssel\\u{1f511} Schl\\U000000fcssel\\U0001F511',
      '*** ***',
    ],
    ['those escaped in JSON', ['Schlüssel🔑'], '"Schl\\u00fcssel\\ud83d\\udd11"', '"***"'],
    ['Go’s JSON', ['a<b>&c'], '{"k":"a\\u003cb\\u003e\\u0026c"}', '{"k":"***"}'],
    ['PHP’s JSON', ['path/to/key'], '{"k":"path\\/to\\/key"}', '{"k":"***"}'],
    ['JSON in JSON', ['a"b<c'], String.raw`"{\"k\":\"a\\\"b\\u003cc\"}"`, String.raw`"{\"k\":\"***\"}"`],
    ['HTML', [`a<b>"c"&'d`], 'a&lt;b&gt;&quot;c&quot;&amp;&#39;d', '***'],
    ['HTML by numbers, and in HTML', ['a<b>&c'], 'a&#x3C;b&#62;&#38;c a&amp;lt;b&amp;gt;&amp;amp;c', '*** ***'],
    ['JSON in a URL', ['a"b&c'], 'k=%22a%5C%22b%5Cu0026c%22', 'k=%22***%22'],
    ['a URL in a URL', ['p@ss/word'], 'to=https%3A%2F%2Fu%3Ap%2540ss%252Fword%40git', 'to=https%3A%2F%2Fu%3A***%40git'],
    ['shell quoting', [`it's so`], String.raw`'it'\''s so' it\'s\ so "it's so" 'it'"'"'s so'`, `'***' *** "***" '***'`],
    ['octal and hexadecimal escapes', ['geheim=ä'], String.raw`\147eheim=\303\244 \x67eheim=\xc3\xa4`, '*** ***'],
    ['a secret that looks like an escape', ['%41%42cd', '\\u0041bcd'], '%41%42cd \\u0041bcd', '*** ***'],
    ['a secret after characters that make it an escape', ['a1b2c3d4'], '100%a1b2c3d4 \\a1b2c3d4', '100%*** \\***'],
  ])('%s', (_, secrets, line, masked) => {
    expect(createMask(secrets)(line)).toBe(masked);
  });
});

describe('mask, with invisible characters', () => {
  const secret = 'correct horse';
  test.each([
    ['a colour', 'corre\u001b[0mct horse'],
    ['a colour by a C1 character', 'corre\u009b31mct horse'],
    ['a title', 'corre\u001b]0;title\u0007ct horse'],
    ['a link', 'corre\u001b]8;;http://x\u001b\\ct horse'],
    ['another character set', 'corre\u001b(Bct horse'],
    ['U+0001', 'corre\u0001ct horse'],
    ['U+200B', 'corre\u200bct horse'],
    ['a soft hyphen', 'corre\u00adct horse'],
    ['a variation selector', 'corre\ufe0fct horse'],
    ['a tag beyond 65,536', 'corre\u{e0041}ct horse'],
    ['one between all of them', Array.from(secret).join('\u2060')],
    ['an escape that takes its first character', '\u001bcorrect horse'],
  ])('%s', (_, line) => {
    const masked = createMask([secret])(`<${line}>`);
    expect(masked.replace('\u001b', '')).toBe('<***>');
    expect(stripControls(masked)).not.toContain('orrect horse');
  });

  test('hides a secret inside an escape sequence', () => {
    expect(createMask(['p@ss&word'])('p%\u200b40ss%\u001b[0m26word')).toBe('***');
  });

  test('keeps colours beside a secret', () => {
    expect(createMask([secret])(`\u001b[1m${secret}\u001b[0m ✔`)).toBe('\u001b[1m***\u001b[0m ✔');
  });

  test('hides the secret whatever is inserted between its characters', () => {
    const noise = fc.constantFrom(
      '',
      '',
      '\u001b[0m',
      '\u0001',
      '\u200b',
      '\u001b',
      '\u001b]',
      '\u0007',
      '\u009b',
      '%',
      '\\',
      '&',
    );
    const secretText = fc.string({ unit: fc.constantFrom(...Array.from('ab01%&\\"u;')), minLength: 5, maxLength: 12 });
    fc.assert(
      fc.property(secretText, fc.array(noise, { minLength: 12, maxLength: 12 }), (text, noises) => {
        const line = Array.from(text, (character, index) => character + (noises[index] ?? '')).join('');
        const masked = createMask([text])(line);
        expect(stripControls(masked)).not.toContain(text);
        expect(masked).not.toContain(text);
      }),
    );
  });
});

describe('mask, in base64', () => {
  const secret = 'correct horse battery?>';
  const encode = (text: string, encoding: BufferEncoding = 'base64') => Buffer.from(text).toString(encoding);

  test.each(['', 'u', 'us', 'user:', 'x-token:'])('hides it after %j', (before) => {
    for (const after of ['', '\n', '!!']) {
      const masked = createMask([secret])(`Basic ${encode(before + secret + after)} end`);
      expect(masked).toMatch(/^Basic \S*\*\*\* ?\S* end$|^Basic \S{0,12}\*\*\*\S{0,8} end$/);
      expect(masked.length).toBeLessThan('Basic  end'.length + 24);
    }
  });

  test('hides it in the alphabet of URLs', () => {
    expect(createMask([secret])(encode(secret, 'base64url'))).toMatch(/^\*\*\*\S{0,4}$/);
  });

  test('hides a key of several lines as a whole', () => {
    const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(20)}-----END KEY-----\n`;
    expect(createMask([key])(`KEY=${encode(key)}`)).toMatch(/^KEY=\*\*\*\S{0,4}$/);
  });

  const pem = `-----BEGIN KEY-----\n${Array.from({ length: 20 }, (_, index) => `MIIEvQIBADANBg${index}kqhkiG9w0BAQEFAASC`).join('\n')}\n-----END KEY-----\n`;

  test.each([
    [64, ''],
    [76, ''],
    [76, 'user:'],
    [64, '#9 0.12 '],
  ])('hides it in lines of %d characters, after %j', (width, before) => {
    const prefix = before.startsWith('#') ? before : '';
    const lines = encode(before + pem).match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
    const mask = createLineMask([pem]);
    let end: LineEnd | undefined;
    const shown = lines.flatMap((line, index) => {
      // A line of another step is in between.
      return ['#8 0.1 installs', prefix + line].map((one) => {
        const masked = mask(one, end);
        end = masked.end;
        return index > 0 ? masked.line : '';
      });
    });
    const left = shown.filter((line) => line !== '' && line !== '#8 0.1 installs');
    expect(left).toHaveLength(lines.length - 1);
    for (const line of left) expect(line.length).toBeLessThanOrEqual(prefix.length + '***'.length + 4);
    expect(shown.filter((line) => line === '#8 0.1 installs')).toHaveLength(lines.length - 1);
  });

  test.each([
    ['Xk29dLq8ZpW4', 7],
    ['Xk29dLq8ZpW4yT', 7],
    ['correct horse battery staple', 15],
    ['ghp_0123456789abcdefghijABCDEFGHIJ012345', 15],
  ])('of %j with the end of a line anywhere in it, all but one part of %i characters', (short, max) => {
    const mask = createLineMask([short]);
    const fill = ' '.repeat(100);
    for (let before = 0; before < 57; before++) {
      const text = encode(fill.slice(0, before) + short + fill);
      const masked = maskLines(mask, text.match(/.{1,76}/g)?.join('\n') ?? '');
      // The visible characters of the secret, without the base64 of the spaces around it.
      const left = masked.replace(/ICAg/g, '').replace(/\*\*\*|\n/g, '');
      expect(left.length).toBeLessThanOrEqual(max + 12);
      expect(masked).toContain('***');
    }
  });

  test('broken into lines inside of one text, and inside of JSON', () => {
    const lines = encode(pem).match(/.{1,76}/g) ?? [];
    for (const text of [lines.join('\n'), JSON.stringify(lines.join('\n')), JSON.stringify(lines.join('\r\n  '))]) {
      expect(createMask([pem])(text).replaceAll(/\*\*\*|\\[rn]|[\n "]/g, '').length).toBeLessThanOrEqual(4);
    }
  });

  test("hides it with the slashes of PHP's JSON, and in a URL", () => {
    const bytes = Buffer.from('\u00ff\u00fe?>~\u00ff\u00fe?>~\u00ff\u00fe?>~', 'latin1').toString('utf8');
    const encoded = encode(bytes.repeat(3));
    const mask = createMask([bytes.repeat(3)]);
    for (const text of [encoded.replaceAll('/', '\\/'), encodeURIComponent(encoded)]) {
      expect(mask(text)).toMatch(/^\*\*\*.{0,8}$/);
    }
  });

  test('does not search for a short secret, whose characters occur in other texts too', () => {
    expect(createMask(['test'])(encode('test'))).toBe(encode('test'));
  });
});

describe('mask, of long texts', () => {
  test('takes time linear in the length of the line, whatever the line has in common with the secrets', () => {
    const secrets = Array.from({ length: 16 }, (_, index) => `${'a'.repeat(4096)}${index}`);
    const mask = createMask(secrets);
    const timeOf = (line: string) => {
      const { user } = process.cpuUsage();
      mask(line);
      return process.cpuUsage().user - user;
    };
    const line = 'a'.repeat(200_000);
    timeOf(line);
    for (const one of [
      line,
      '%61'.repeat(70_000),
      '\u001b]'.repeat(100_000),
      '\u009d'.repeat(200_000),
      'YWFh'.repeat(50_000),
    ])
      expect(timeOf(one)).toBeLessThan(2_000_000);
  });

  test('finds a very long secret by its start', () => {
    const lines = Array.from({ length: 8000 }, (_, index) => `the line ${index} of a long file`);
    const mask = createMask([lines.join('\n'), 'short-secret-1']);
    expect(mask(`${lines[0]}; ${lines[2000]}; short-secret-1`)).toBe('***; ***; ***');
    expect(lines.slice(0, 2001).join('\n').length).toBeLessThan(MAX_SECRET);
    expect(mask(lines[7999] ?? '')).toBe(lines[7999]);
  });
});

describe('cut', () => {
  test.each(['', 'short', 'x'.repeat(MAX_LINE_BYTES), 'ä'.repeat(MAX_LINE_BYTES / 2)])(
    'keeps a line that fits',
    (line) => {
      expect(cutLine(line)).toBe(line);
    },
  );

  test.each([
    ['x'.repeat(MAX_LINE_BYTES + 1), MAX_LINE_BYTES],
    ['x' + 'ä'.repeat(MAX_LINE_BYTES), MAX_LINE_BYTES - 1],
    ['xx' + '🌳'.repeat(MAX_LINE_BYTES), MAX_LINE_BYTES - 2],
  ])('cuts a longer one between characters, and marks it', (line, kept) => {
    const [beginning = '', mark] = cutLine(line).split('… ');
    expect(Buffer.byteLength(beginning)).toBe(kept);
    expect(line.startsWith(beginning)).toBe(true);
    expect(mark).toBe(`[the line is cut: it has ${Buffer.byteLength(line)} bytes]`);
  });
});
