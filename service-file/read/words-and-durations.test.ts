import { describe, expect, test } from '@jest/globals';
import { parseDuration } from './duration.ts';
import { nearest } from './nearest.ts';
import { splitShellWords } from './shell-words.ts';

describe('shell words, as go-shellwords splits them', () => {
  test.each([
    ['a b  c', ['a', 'b', 'c']],
    [' a\tb\nc ', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a='b c'd`, ['a=b cd']],
    [`"" ''`, ['', '']],
    [`a\\ b`, ['a b']],
    [`"a\\"b"`, ['a"b']],
    [`'a\\b'`, ['a\\b']],
    [`a\\tb`, ['a\tb']],
    [`"a; b" '|'`, ['a; b', '|']],
    ['$HOME *', ['$HOME', '*']],
    ['', []],
  ])('%j', (line, words) => {
    expect(splitShellWords(line)).toEqual({ words });
  });

  test.each(['a; b', 'a && b', 'a | b', 'a > b', '$(a)', '`a`', '"a', "'a", 'a\\'])('refuse %j', (line) => {
    expect(splitShellWords(line)).toHaveProperty('error');
  });
});

describe('durations', () => {
  test.each([
    ['10s', 10],
    ['1m30s', 90],
    ['1.5h', 5400],
    ['.5s', 0.5],
    ['100ms100ms100ms', 0.3],
    ['1d', 86_400],
    ['0', 0],
    ['+1us', 0.000001],
  ])('%s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(['', '10', '-1s', 's', '1x', '1s ', '1 s', '.s', '1'.repeat(100) + 's'])('refuse %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

test.each([
  ['enviroment', 'environment'],
  ['port', 'ports'],
  ['imgae', 'image'],
  ['Ports', 'ports'],
  ['xyz', undefined],
  ['e'.repeat(100_000), undefined],
])('finds the name nearest to %s', (word, expected) => {
  expect(nearest(word, ['environment', 'ports', 'image'], { errorCount: 0 })).toBe(expected);
});
