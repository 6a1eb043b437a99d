import { expect, test } from '@jest/globals';
import fc from '../../test/properties.ts';
import { stripControls } from '../../build-logs/controls.ts';
import { matchRanges } from './log-filter.ts';
import { piecesOf, readTerminalText } from './terminal-text.ts';

test('a line without controls is its text', () => {
  expect(readTerminalText('#5 [2/5] WORKDIR /app')).toEqual({ text: '#5 [2/5] WORKDIR /app' });
  expect(readTerminalText('日本語 é')).toEqual({ text: '日本語 é' });
});

test.each([
  ['\u001b[31mred\u001b[39m plain', ['ansi-1:red', ': plain']],
  ['\u001b[1;92mbold\u001b[22m bright\u001b[m end', ['ansi-bold ansi-10:bold', 'ansi-10: bright', ': end']],
  ['\u001b[42m PASS \u001b[49m', ['ansi-fill ansi-2: PASS ']],
  ['\u001b[7;31minverse\u001b[27mnot', ['ansi-fill ansi-1:inverse', 'ansi-1:not']],
  ['\u001b[30;40mblack on black', ['ansi-fill ansi-0:black on black']],
  ['\u001b[38;5;196mred\u001b[38;2;10;200;20mgreen', ['ansi-9:red', 'ansi-2:green']],
  ['\u009b33mC1', ['ansi-3:C1']],
])('%j has these colours', (line, parts) => {
  expect(readTerminalText(line).parts?.map(({ text, style }) => `${style}:${text}`)).toEqual(parts);
});

test.each([
  '\u001b[8mhidden',
  '\u001b[2K\u001b[1Gmoved',
  '\u001b]8;;http://evil.example\u0007link',
  '\u202elanimret',
  '\u001b[38m?',
])('nothing of %j has an effect but its text', (line) => {
  expect(readTerminalText(line)).toEqual({ text: stripControls(line) });
});

const hostile = fc.array(
  fc.constantFrom(
    '\u001b',
    '\u009b',
    '[',
    ']',
    '3',
    '1',
    ';',
    'm',
    '\u0007',
    '\u001b\\',
    'sec',
    'ret',
    '\u200b',
    '\u202e',
    'é',
    '🚀',
    '8;5;',
    'K',
    '\n',
  ),
  { maxLength: 40 },
);

test('the text is the one in which masks search for secrets', () => {
  fc.assert(
    fc.property(hostile, (pieces) => {
      const line = pieces.join('');
      const { text, parts } = readTerminalText(line);
      // Removing colours first and removing each character by itself must give the same text.
      expect(text).toBe(stripControls(line));
      if (parts) expect(parts.map((part) => part.text).join('')).toBe(text);
    }),
  );
});

test('pieces have the borders of colours and of matches', () => {
  const line = readTerminalText('a \u001b[31mred err\u001b[0mor here, error');
  const pieces = piecesOf(line, matchRanges(line.text, 'error'));
  expect(pieces.map(({ text, style, isMatch }) => [text, style, isMatch])).toEqual([
    ['a ', '', false],
    ['red ', 'ansi-1', false],
    ['err', 'ansi-1', true],
    ['or', '', true],
    [' here, ', '', false],
    ['error', '', true],
  ]);
});

test('pieces together are the text', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom('', 's', 'e', 'ret', '3'), (pieces, wanted) => {
      const line = readTerminalText(pieces.join(''));
      const shown = piecesOf(line, matchRanges(line.text, wanted));
      expect(shown.map(({ text }) => text).join('')).toBe(line.text);
    }),
  );
});
