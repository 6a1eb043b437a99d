import { expect, test } from '@jest/globals';
import { KeyedLock } from './keyed-lock.ts';

test('runs one task per key at a time, keys in parallel, and continues after a failure', async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const first = lock.run('a', async () => {
    await held;
    order.push('a1');
    throw new Error('a1 failed');
  });
  const second = lock.run('a', () => Promise.resolve(order.push('a2')));
  await lock.run('b', () => Promise.resolve(order.push('b1')));
  release();
  await expect(first).rejects.toThrow('a1 failed');
  await second;
  expect(order).toEqual(['b1', 'a1', 'a2']);
});
