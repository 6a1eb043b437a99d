import { expect, test } from '@jest/globals';
import { readOnce } from './read-once.ts';

test('reads once for all callers, and again after a failure', async () => {
  let reads = 0;
  const read = readOnce(() => {
    reads += 1;
    return reads === 1 ? Promise.reject(new Error('unreachable')) : Promise.resolve(`read ${reads}`);
  });
  const refused = [read(), read()];
  for (const one of refused) await expect(one).rejects.toThrow('unreachable');
  expect(await Promise.all([read(), read()])).toEqual(['read 2', 'read 2']);
  expect(await read()).toBe('read 2');
});
