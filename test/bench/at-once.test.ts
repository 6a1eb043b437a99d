import { expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { atOnce } from './at-once.ts';

test('each item is worked on once, and no more than so many at once', async () => {
  const done: number[] = [];
  let now = 0;
  let most = 0;
  await atOnce(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    most = Math.max(most, ++now);
    await turn();
    now -= 1;
    done.push(item);
  });
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('after a failure nothing more begins', async () => {
  const begun: number[] = [];
  const working = atOnce(2, [1, 2, 3, 4, 5, 6], async (item) => {
    begun.push(item);
    await turn();
    if (item === 2) throw new Error('the second');
  });
  await expect(working).rejects.toThrow('the second');
  expect(begun).not.toContain(6);
});
