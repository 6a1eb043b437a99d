import { expect, test } from '@jest/globals';
import { RequestSlots } from './request-slots.ts';

test('limits requests in total, of one environment, and of one group', () => {
  const held = new RequestSlots({ max: 6, maxPerEnvironment: 2, maxPerGroup: 3, maxPerTenant: 6 });
  const take = (key: string) => held.take({ key });
  const first = take('group-a/one');
  expect([take('group-a/one'), take('group-a/two'), take('group-b/one')]).not.toContain(undefined);
  expect([take('group-a/one'), take('group-a/two')]).toEqual([undefined, undefined]);
  first?.();
  first?.();
  expect(held.total).toBe(3);
  expect(take('group-a/two')).toBeDefined();
  first?.();
  expect(held.total).toBe(4);
});

test('leaves slots to other groups', () => {
  const held = new RequestSlots({ max: 4, maxPerEnvironment: 4, maxPerGroup: 1, maxPerTenant: 2 });
  expect(held.take({ key: 'group-a/one' })).toBeDefined();
  expect(held.take({ key: 'group-a/two' })).toBeUndefined();
  expect(held.take({ key: 'group-b/one' })).toBeDefined();
});

test('leaves slots to other accounts, however many groups one has', () => {
  const held = new RequestSlots({ max: 8, maxPerEnvironment: 8, maxPerGroup: 2, maxPerTenant: 4 });
  const take = (group: string, tenant: string) => held.take({ key: `group-${group}/one`, tenant }) !== undefined;
  const taken = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((group) => [take(group, 'one'), take(group, 'one')]);
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(4);
  expect([take('x', 'other'), take('y', 'third')]).toEqual([true, true]);
});

test.each([1, 4, 40])('leaves slots to another group, however many take what %i groups get', (groups) => {
  const max = 1000;
  const held = new RequestSlots({ max, maxPerEnvironment: max, maxPerGroup: max / 4, maxPerTenant: max / 2 });
  for (let round = 0; round < max; round++) {
    for (let group = 0; group < groups; group++) held.take({ key: `group-${group}/one` });
  }
  const taken = held.total;
  for (let request = 0; request < max; request++) held.take({ key: 'group-other/one' });
  expect(held.total - taken).toBeGreaterThanOrEqual(Math.floor(max / (groups + 1) / 2));
});
