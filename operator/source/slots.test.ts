import { expect, test } from '@jest/globals';
import { Slots } from './slots.ts';

test('so many at once, the others in their order, on after a failure', async () => {
  const slots = new Slots(2);
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) => async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    order.push(name);
    if (name === 'b') throw new Error(name);
  };
  const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => slots.run(work(name))));
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(most).toBe(2);
});
