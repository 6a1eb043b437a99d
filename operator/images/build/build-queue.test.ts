import { describe, expect, test } from '@jest/globals';
import type { FlowLimits } from '../../../fair-queue/fair-queue.ts';
import { BuildQueue } from './build-queue.ts';

describe('a queue', () => {
  /** The build `a1` belongs to the group a. Groups in upper case were created by one account. */
  function queue(total: number, limits: FlowLimits = {}) {
    let time = 0;
    const running: { id: string; group: string }[] = [];
    const woken: string[] = [];
    const made = new BuildQueue({
      limits: { total, ...limits },
      ownerOf: (group) => ({ group, tenant: /[A-Z]/.test(group) ? 'account' : group }),
      running: () => running,
      enqueue: (key) => void woken.push(key),
      now: () => time,
    });
    return {
      woken,
      later: (seconds: number) => (time += seconds * 1000),
      ask: (id: string) => made.positionOf({ id, group: id.slice(0, 1), environmentKey: `env-${id}` }),
      start: (id: string) => void running.push({ id, group: id.slice(0, 1) }),
      leave: (id: string) => made.leave(id),
      isWaiting: (id: string) => made.isWaiting(id),
      hasRoomFor: (group: string) => made.hasRoomFor(group),
      end: (id: string) => {
        running.splice(
          running.findIndex((one) => one.id === id),
          1,
        );
        made.wake();
      },
    };
  }

  test('starts builds while there is room, and returns the positions of the others', () => {
    const { ask, start, later } = queue(2);
    expect(ask('a1')).toBeUndefined();
    start('a1');
    later(1);
    expect(ask('a2')).toBeUndefined();
    // It has a slot although its Job does not exist yet, however often it asks.
    expect(ask('a2')).toBeUndefined();
    later(1);
    expect(ask('a3')).toEqual({ position: 1, of: 1 });
    later(1);
    expect(ask('b1')).toEqual({ position: 1, of: 2 });
    expect(ask('a3')).toEqual({ position: 2, of: 2 });
  });

  test('has room for a build unless the installation, the account or the group has enough', () => {
    const { ask, start, hasRoomFor } = queue(4, { perTenant: 2, perGroup: 1 });
    const room = () => ['a', 'b', 'C', 'D'].map(hasRoomFor);
    expect(room()).toEqual([true, true, true, true]);
    ask('a1');
    // A build whose Job runs counts once.
    start('a1');
    expect(room()).toEqual([false, true, true, true]);
    ask('C1');
    ask('D1');
    expect(room()).toEqual([false, true, false, false]);
    ask('b1');
    expect(hasRoomFor('e')).toBe(false);
  });

  test('requeues builds that can start, and keeps their slots', () => {
    const { ask, start, end, woken, later } = queue(1);
    ask('a1');
    start('a1');
    ask('a2');
    later(1);
    ask('b1');
    end('a1');
    expect(woken).toEqual(['env-a2']);
    expect(ask('b1')).toEqual({ position: 1, of: 1 });
    expect(ask('a2')).toBeUndefined();
  });

  test('passes the slot of a build that needs none to the next', () => {
    const { ask, leave, woken, isWaiting } = queue(1);
    ask('a1');
    ask('b1');
    expect([isWaiting('a1'), isWaiting('b1')]).toEqual([false, true]);
    leave('a1');
    expect(woken).toEqual(['env-b1']);
  });

  test('forgets builds that no longer ask', () => {
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

  test.each<[string, FlowLimits, string, string, string]>([
    ['as many builds as there are slots', {}, '', 'a1 a2 b1 b2 c1', 'a1 a2 b1 b2'],
    ['at most the limit of a group', { perGroup: 2 }, 'a8 a9', 'a1 b1 b2 b3', 'b1 b2'],
    ['at most the limit of an account, over all of its groups', { perTenant: 3 }, 'A9 B9', 'C1 D1 b1', 'C1 b1'],
  ])('starts %s', (_what, limits, running, asking, expected) => {
    const { ask, start } = queue(4, limits);
    for (const id of running.split(' ').filter(Boolean)) start(id);
    const started = asking.split(' ').filter((id) => ask(id) === undefined);
    expect(started.join(' ')).toBe(expected);
  });

  test('starts a build of another account next, however many groups of one account have waited however long', () => {
    const { ask, start, end, later, woken } = queue(2);
    for (const id of ['A1', 'B1']) {
      ask(id);
      start(id);
    }
    for (const id of ['A2', 'B2', 'C1', 'D1']) ask(id);
    later(60);
    expect(ask('victim1')).toEqual({ position: 1, of: 5 });
    end('A1');
    expect(woken).toEqual(['env-victim1']);
  });
});
