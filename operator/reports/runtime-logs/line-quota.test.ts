import { expect, test } from '@jest/globals';
import { LineQuota, MAX_BYTES_PER_SECOND } from './line-quota.ts';

/** Length of a line that, with what is stored beside it, uses up a second. */
const whole = MAX_BYTES_PER_SECOND - 100;

test.each<[string, [at: number, length: number][], boolean[], number]>([
  ['a line that takes all of a second', [[0, whole]], [true], 1000],
  ['a line that takes more is never admitted', [[0, whole + 1]], [false], 1000],
  [
    'empty lines count too',
    [
      [0, whole - 100],
      [0, 0],
      [0, 0],
    ],
    [true, true, false],
    1000,
  ],
  [
    'omits shorter lines after an omitted one, so that lines keep their order',
    [
      [0, whole],
      [0, whole],
      [999, 0],
    ],
    [true, false, false],
    1,
  ],
  [
    'admits lines again in the next second',
    [
      [0, whole],
      [400, whole],
      [1000, whole],
    ],
    [true, false, true],
    1000,
  ],
  [
    'a second starts with its first line',
    [
      [0, 0],
      [5500, whole],
      [6499, 0],
    ],
    [true, true, false],
    1,
  ],
])('%s', (_, lines, admitted, waitMs) => {
  let now = 0;
  // The clock does not start at 0, because the first second must start at any time.
  const quota = new LineQuota(() => 1_700_000_000_000 + now);
  const seen = lines.map(([at, length]) => {
    now = at;
    return quota.admits(length);
  });
  expect(seen).toEqual(admitted);
  expect(quota.waitMs).toBe(waitMs);
});
