import { expect, test } from '@jest/globals';
import { withCleanUp } from './clean-up.ts';

const [found, left] = [new Error('a fault was found'), new Error('a namespace stays')];
const fails = (error: Error) => () => Promise.reject(error);

test('returns the result after the clean-up', async () => {
  const order: string[] = [];
  const step = (name: string) => () => Promise.resolve(order.push(name));
  expect(await withCleanUp(step('work'), step('clean up'))).toBe(1);
  expect(order).toEqual(['work', 'clean up']);
});

test('throws a failure of the work after the clean-up', async () => {
  let isClean = false;
  const clean = () => Promise.resolve((isClean = true));
  await expect(withCleanUp(fails(found), clean)).rejects.toBe(found);
  expect(isClean).toBe(true);
});

test('throws a failure of the clean-up alone', async () => {
  await expect(withCleanUp(() => Promise.resolve(), fails(left))).rejects.toBe(left);
});

test('throws the failure of the work if both fail', async () => {
  await expect(withCleanUp(fails(found), fails(left))).rejects.toMatchObject({
    message: 'a fault was found; and the clean-up failed: a namespace stays',
    errors: [found, left],
  });
});
