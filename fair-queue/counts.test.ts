import { expect, test } from '@jest/globals';
import { Counts } from './counts.ts';

test('adds by name and in total, and forgets names at zero', () => {
  const counts = new Counts();
  counts.add('a');
  counts.add('b', 5);
  counts.add('a', 2);
  expect([counts.of('a'), counts.of('b'), counts.of('c'), counts.total, counts.size]).toEqual([3, 5, 0, 8, 2]);
  counts.add('a', -4);
  expect([counts.of('a'), counts.total, counts.names]).toEqual([0, 5, ['b']]);
  counts.clear();
  expect([counts.of('b'), counts.total, counts.size]).toEqual([0, 0, 0]);
});
