import { describe, expect, test } from '@jest/globals';
import { RunQueue } from './run-queue.ts';

const limits = { atWork: { total: 3, perGroup: 2 }, waiting: { total: 6, perGroup: 4 } };

/** One account created the groups in upper case. An ID is the name of its group and a number. */
const ownerOf = (group: string) => ({ group, tenant: /[A-Z]/.test(group) ? 'account' : group });
const run = (id: string) => ({ ...ownerOf(id.slice(0, 1)), id });

function filled(...ids: string[]): RunQueue {
  const queue = new RunQueue(limits);
  for (const id of ids) queue.restore(run(id));
  return queue;
}

const takeAll = (queue: RunQueue): string[] => {
  const ids = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) ids.push(next.id);
  return ids;
};

describe('take', () => {
  test.each([
    [
      ['a1', 'a2', 'a3'],
      ['a1', 'a2'],
    ], // a group's share
    [
      ['a1', 'a2', 'a3', 'b1'],
      ['a1', 'b1', 'a2'],
    ], // alternating groups
    [
      ['a1', 'b1', 'c1', 'd1'],
      ['a1', 'b1', 'c1'],
    ], // the total limit
    [
      ['A1', 'B1', 'C1', 'd1'],
      ['A1', 'd1', 'B1'],
    ], // all slots except one for an account with many groups
    [[], []],
  ])('returns of %j: %j', (waiting, taken) => {
    expect(takeAll(filled(...waiting))).toEqual(taken);
  });

  test('serves a group after the others once it was served, however many items it had queued before', () => {
    const queue = filled('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
    const order: string[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      order.push(next.id);
      queue.ended(next);
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  test('continues with a group when one of its runs ends', () => {
    const queue = filled('a1', 'a2', 'a3');
    expect(takeAll(queue)).toEqual(['a1', 'a2']);
    queue.ended(run('a1'));
    expect(takeAll(queue)).toEqual(['a3']);
    expect([queue.atWork, queue.waiting]).toEqual([2, 0]);
  });
});

describe('reserve', () => {
  const reserveAll = (queue: RunQueue, groups: string) =>
    groups.split(',').map((group) => queue.reserve(ownerOf(group)));

  const taken = (queue: RunQueue, groups: string) => reserveAll(queue, groups).map(Number).join('');

  test.each([
    ['a,a,a,a,a', '11110'], // the share of a group
    ['a,a,b,b,c,c,a,b,c', '111111000'], // the whole queue, if each has at most its fair share
    ['A,A,A,A,B,B,C,d,e', '111111011'], // the fair share of accounts, whatever groups they have
    ['a,a,a,a,b,b,b,b,a', '111111100'], // the fair share of a group that is late
    ['a,a,a,a,b,b,b,c,c,c', '1111111110'], // one slot beyond the total for each group
  ])('%s: %s', (groups, expected) => {
    expect(taken(new RunQueue(limits), groups)).toBe(expected);
  });

  test('keeps nobody out when a hundred groups fill the queue, with at most one slot each beyond it', () => {
    const queue = new RunQueue({ ...limits, waiting: { total: 1000, perGroup: 250 } });
    const many = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (let round = 0; round < 250; round++) for (const group of many.slice(0, 4)) queue.reserve(ownerOf(group));
    expect(queue.waiting).toBe(1000);
    for (let round = 0; round < 250; round++) for (const group of many) queue.reserve(ownerOf(group));
    expect(queue.waiting).toBeLessThanOrEqual(1100);
    expect(queue.reserve(ownerOf('other'))).toBe(true);
    expect(queue.reserve(ownerOf('another'))).toBe(true);
  });

  test('frees the slot of a taken or released reservation', () => {
    const queue = filled('a1', 'a2', 'a3', 'a4');
    expect(queue.reserve(ownerOf('a'))).toBe(false);
    queue.take();
    expect(queue.reserve(ownerOf('a'))).toBe(true);
    expect(queue.reserve(ownerOf('a'))).toBe(false);
    queue.release(ownerOf('a'));
    expect(queue.reserve(ownerOf('a'))).toBe(true);
  });

  test('keeps the slot of what was once accepted beyond the limits', () => {
    const queue = filled('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7');
    expect(queue.waiting).toBe(7);
    expect(taken(queue, 'a,b,b,c')).toBe('0101');
  });
});
