import { describe, expect, test } from '@jest/globals';
import { indexAt, linePath, numberText, positionsOf, ticksOf } from './plot.ts';
import { buildsOf, labelsOf, pointsOf, testedText, type History } from './test-history.ts';

const tested = (build: number, name: string, numbers: Record<string, number>): History[number] => ({
  build,
  finishedAt: '2026-01-01T00:00:00Z',
  tests: [
    {
      name,
      outcome: build === 2 ? 'failed' : 'passed',
      numbers: Object.entries(numbers).map(([label, value]) => ({ label, value })),
    },
  ],
});

describe('numbers over builds', () => {
  const builds = buildsOf(
    [
      tested(4, 'home', { time: 40, status: 200 }),
      tested(3, 'looks', { time: 1 }),
      tested(2, 'home', { time: 20, gone: 5 }),
      tested(1, 'home', { time: 10, status: 404 }),
    ],
    'home',
  );

  test('are of one test, oldest first', () => {
    expect(builds.map(({ build, outcome }) => `${build} ${outcome}`)).toEqual(['1 passed', '2 failed', '4 passed']);
    expect(pointsOf(builds, 'time')).toEqual([
      { build: 1, outcome: 'passed', value: 10 },
      { build: 2, outcome: 'failed', value: 20 },
      { build: 4, outcome: 'passed', value: 40 },
    ]);
  });

  test('are those that the newest build has', () => {
    expect(labelsOf(builds)).toEqual(['time', 'status']);
    expect(pointsOf(builds, 'status').map(({ build }) => build)).toEqual([1, 4]);
    expect(labelsOf([])).toEqual([]);
  });
});

describe('a plot', () => {
  test.each<[string, number[], string]>([
    ['starts at 0', [0, 5, 10], 'M0 100L50 50L100 0'],
    ['has its line at the bottom for zeros', [0, 0], 'M0 100L100 100'],
    ['has 0 between negative and positive numbers', [-10, 10, 0], 'M0 100L50 0L100 50'],
    ['has 0 at the top of negative numbers', [-10, 0], 'M0 100L100 0'],
    ['has room for the largest numbers', [-Number.MAX_VALUE, Number.MAX_VALUE], 'M0 100L100 0'],
    ['has a single number in the middle', [3], 'M50 0'],
  ])('%s', (_what, values, path) => expect(linePath(positionsOf(values))).toBe(path));

  test.each<[number, number, number[]]>([
    [0, 6, []],
    [1, 6, [0]],
    [3, 6, [0, 1, 2]],
    [20, 6, [0, 4, 8, 11, 15, 19]],
  ])('of %i numbers has at most %i ticks', (count, max, ticks) => expect(ticksOf(count, max)).toEqual(ticks));

  test.each([
    [0, 0],
    [0.24, 0],
    [0.26, 1],
    [1, 2],
    [-1, 0],
    [2, 2],
  ])('finds the number at %d of its width', (fraction, index) => expect(indexAt(fraction, 3)).toBe(index));

  test.each([
    [400, '400'],
    [1234567, '1234567'],
    [0.123456, '0.1235'],
    [1.7976931348623157e308, '1.798e+308'],
  ])('labels %d', (value, text) => expect(numberText(value)).toBe(text));
});

test.each([
  [3, 'build 3: all 2 tests passed', 'Build 3: all 2 tests passed'],
  [3, 'tests are disabled', 'Build 3: tests are disabled'],
  [3, undefined, 'Build 3'],
  [undefined, 'tests are disabled', 'tests are disabled'],
  [undefined, undefined, ''],
])('names build %p of the outcome %p once', (build, message, text) => {
  const tested = message === undefined ? undefined : { type: 'Tested', status: 'True' as const, reason: 'X', message };
  expect(testedText({ build, ...(tested && { tested }) } as Parameters<typeof testedText>[0])).toBe(text);
});
