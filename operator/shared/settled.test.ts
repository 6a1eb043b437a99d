import { expect, test } from '@jest/globals';
import { settled } from './settled.ts';

test('returns what all return', async () => {
  expect(await settled([Promise.resolve('a'), Promise.resolve('b')])).toEqual(['a', 'b']);
});

test('throws the first error in their order, after all have ended', async () => {
  const ended: string[] = [];
  const work = (name: string, ms: number, fails: boolean) =>
    new Promise<void>((resolve, reject) => {
      setTimeout(() => {
        ended.push(name);
        if (fails) reject(new Error(name));
        else resolve();
      }, ms);
    });
  await expect(settled([work('slow', 20, true), work('quick', 1, true), work('last', 40, false)])).rejects.toThrow(
    'slow',
  );
  expect(ended).toEqual(['quick', 'slow', 'last']);
});
