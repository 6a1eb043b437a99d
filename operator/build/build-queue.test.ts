import { describe, expect, test } from '@jest/globals';
import { admissible, BuildQueue, fairOrder } from './build-queue.ts';

/** `a1 a2 b1`: builds of the groups a and b, in the order in which they came. */
const builds = (names: string) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((id, since) => ({ id, group: id.slice(0, 1), since }));
const groups = (names: string) => builds(names).map(({ group }) => group);
const names = (entries: { id: string }[]) => entries.map(({ id }) => id).join(' ');

test.each([
  ['one group: first come, first served', '', 'a1 a2 a3', 'a1 a2 a3'],
  ['groups take turns', '', 'a1 a2 a3 b1 b2 c1', 'a1 b1 c1 a2 b2 a3'],
  ['whose builds work already comes later', 'a a', 'a1 b1 b2 b3', 'b1 b2 a1 b3'],
  ['nobody waits', 'a', '', ''],
])('the order: %s', (_what, working, waiting, expected) => {
  expect(names(fairOrder(groups(working), builds(waiting)))).toBe(expected);
});

test.each([
  ['as many as there is room for', { total: 3, perGroup: 9 }, 'a', 'b1 b2 b3', 'b1 b2'],
  ['of a group no more than its own limit', { total: 9, perGroup: 2 }, 'a', 'a1 a2 b1', 'b1 a1'],
  ['past a group that has its limit', { total: 3, perGroup: 1 }, 'a', 'a1 b1 c1', 'b1 c1'],
  ['none when all is taken', { total: 1, perGroup: 1 }, 'a', 'b1', ''],
])('begins %s', (_what, limits, working, waiting, expected) => {
  expect(names(admissible(limits, groups(working), builds(waiting)))).toBe(expected);
});

describe('a queue', () => {
  function queue(total: number, perGroup = total) {
    let time = 0;
    const running: { id: string; group: string }[] = [];
    const woken: string[] = [];
    const made = new BuildQueue({
      limits: { total, perGroup },
      running: () => running,
      enqueue: (key) => void woken.push(key),
      now: () => time,
    });
    return {
      woken,
      later: (seconds: number) => (time += seconds * 1000),
      ask: (id: string) => made.placeOf({ id, group: id.slice(0, 1), environmentKey: `env-${id}` }),
      start: (id: string) => void running.push({ id, group: id.slice(0, 1) }),
      leave: (id: string) => made.leave(id),
      isWaiting: (id: string) => made.isWaiting(id),
      end: (id: string) => {
        running.splice(
          running.findIndex((one) => one.id === id),
          1,
        );
        made.wake();
      },
    };
  }

  test('lets builds begin while there is room, and tells the others their place', () => {
    const { ask, start, later } = queue(2);
    expect(ask('a1')).toBeUndefined();
    start('a1');
    later(1);
    expect(ask('a2')).toBeUndefined();
    // It has room, though its Job is not there yet, and however often it asks.
    expect(ask('a2')).toBeUndefined();
    later(1);
    expect(ask('a3')).toEqual({ place: 1, of: 1 });
    later(1);
    expect(ask('b1')).toEqual({ place: 1, of: 2 });
    expect(ask('a3')).toEqual({ place: 2, of: 2 });
  });

  test('wakes whose turn it is, and keeps the room for it', () => {
    const { ask, start, end, woken, later } = queue(1);
    ask('a1');
    start('a1');
    ask('a2');
    later(1);
    ask('b1');
    end('a1');
    expect(woken).toEqual(['env-a2']);
    expect(ask('b1')).toEqual({ place: 1, of: 1 });
    expect(ask('a2')).toBeUndefined();
  });

  test('gives the place of a build that needs none to the next', () => {
    const { ask, leave, woken, isWaiting } = queue(1);
    ask('a1');
    ask('b1');
    expect([isWaiting('a1'), isWaiting('b1')]).toEqual([false, true]);
    leave('a1');
    expect(woken).toEqual(['env-b1']);
  });

  test('forgets what no longer asks', () => {
    const { ask, start, end, woken, later } = queue(1);
    ask('a1');
    start('a1');
    ask('a2');
    later(100);
    ask('b1');
    later(100);
    end('a1');
    expect(woken).toEqual(['env-b1']);
    later(130);
    expect(ask('c1')).toBeUndefined();
  });
});
