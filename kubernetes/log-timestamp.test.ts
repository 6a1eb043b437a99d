import { expect, test } from '@jest/globals';
import { splitTimestamp } from './log-timestamp.ts';

const time = '2026-01-01T00:00:00.000000000Z';

test.each([
  [`${time} text here`, { time, line: 'text here' }],
  [`${time} `, { time, line: '' }],
  ['failed to open log file', undefined],
])('splits the timestamp from %j', (text, expected) => {
  expect(splitTimestamp(text)).toEqual(expected);
});
