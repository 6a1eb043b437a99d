import { expect, test } from '@jest/globals';
import { setImmediate as flow } from 'node:timers/promises';
import { atOnce } from './at-once.ts';

test('processes each item once, a limited number at a time', async () => {
  const done: number[] = [];
  let now = 0;
  let max = 0;
  await atOnce(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    max = Math.max(max, ++now);
    await flow();
    now -= 1;
    done.push(item);
  });
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(max).toBe(3);
});

test('starts nothing more after a failure', async () => {
  const started: number[] = [];
  const working = atOnce(2, [1, 2, 3, 4, 5, 6], async (item) => {
    started.push(item);
    await flow();
    if (item === 2) throw new Error('the second');
  });
  await expect(working).rejects.toThrow('the second');
  expect(started).not.toContain(6);
});
