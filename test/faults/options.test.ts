import { expect, test } from '@jest/globals';
import { Problem } from '../support/problem.ts';
import { parseFaultOptions } from './options.ts';

test.each<[string[], object]>([
  [[], { seed: undefined, sizes: {}, parts: [] }],
  [['--seed', '7', 'redis-killed'], { seed: 7, sizes: {}, parts: ['redis-killed'] }],
  [
    ['--moving', '20', '--built', '1', '--running', '0'],
    { seed: undefined, sizes: { moving: 20, built: 1, running: 0 }, parts: [] },
  ],
])('%j', (args, expected) => {
  expect(parseFaultOptions(args)).toEqual(expected);
});

test.each([
  [['--seed', 'redis-killed'], '--seed: '],
  [['--seed', '-1'], 'argument is ambiguous'],
  [['--seed', '99999999999999999999'], '--seed: '],
  [['--moving', '0'], '--moving: '],
  [['--built', '0'], '--built: '],
  [['--running', 'two'], '--running: '],
  [['--help'], "Unknown option '--help'"],
])('refuses %j with the usage', (args, why) => {
  const parse = () => parseFaultOptions(args);
  expect(parse).toThrow(Problem);
  expect(parse).toThrow(why);
  expect(parse).toThrow('npm run faults -- [--seed N]');
});
