import { expect, test } from '@jest/globals';
import { splitStart, splitTimestamp } from './log-timestamp.ts';

const time = '2026-01-01T00:00:00.000000000Z';

test.each([
  [`${time} text here`, { time, line: 'text here' }],
  [`${time} `, { time, line: '' }],
  ['failed to open log file', undefined],
])('splits the timestamp from %j', (text, expected) => {
  expect(splitTimestamp(text)).toEqual(expected);
});

test.each([
  ['a short line', `${time} text`, 40, 'text'],
  ['a long line', `${time} ${'x'.repeat(100)}`, 35, 'xxxx'],
  ['a character that is cut in two', `${time} abc😀`, 35, 'abc\uFFFD'],
])('splits the first characters of %s', (_what, text, characters, line) => {
  expect(splitStart(text, characters)).toEqual({ time, line });
});
