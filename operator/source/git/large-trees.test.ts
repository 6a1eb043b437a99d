import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { LARGE_TREE_ENTRIES, LargeTrees } from './large-trees.ts';

const large = LARGE_TREE_ENTRIES + 1;
const flowOf = (tenant: number) => ({ tenant: `t${tenant}`, group: `g${tenant}`, host: `h${tenant}` });

/** Starts work with trees of this many entries, one for each tenant; returns how many are in memory at once. */
async function heldOf(tenants: number[], entries: number): Promise<number> {
  const trees = new LargeTrees();
  let held = 0;
  let max = 0;
  await Promise.all(
    tenants.map((tenant) =>
      trees.run(flowOf(tenant), entries, async () => {
        max = Math.max(max, ++held);
        await setImmediate();
        held--;
      }),
    ),
  );
  return max;
}

test('lets few large trees be in memory at once, and fewer of one tenant', async () => {
  expect(await heldOf([1, 2, 3, 4, 5, 6], large)).toBe(3);
  expect(await heldOf([1, 1, 1, 1], large)).toBe(1);
  expect(await heldOf([1, 2, 3, 4, 5, 6], LARGE_TREE_ENTRIES)).toBe(6);
});

test('lets the trees of included repositories follow those that include them', async () => {
  const trees = new LargeTrees();
  const read = (tenant: number) =>
    trees.run(flowOf(tenant), large, async () => {
      await setImmediate();
      return trees.run(flowOf(tenant), large, () => Promise.resolve(tenant));
    });
  expect(await Promise.all([1, 2, 3, 4].map(read))).toEqual([1, 2, 3, 4]);
});
