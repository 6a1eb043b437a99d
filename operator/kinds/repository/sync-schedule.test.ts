import { beforeEach, describe, expect, test } from '@jest/globals';
import { SyncSchedule, type Polled } from './sync-schedule.ts';

const minute = 60_000;
let now: number;
let schedule: SyncSchedule;
const at = (uid: string, createdAt: number, intervalMs = 5 * minute): Polled => ({
  uid,
  createdAt: new Date(createdAt),
  intervalMs,
});

beforeEach(() => {
  now = Date.parse('2026-01-01T00:00:00Z');
  schedule = new SyncSchedule(() => now);
});

describe('the first sync', () => {
  test('is an interval after the Repository appeared', () => {
    expect(schedule.waitMs(at('new', now), undefined)).toBe(5 * minute);
  });

  test('after a restart is within an interval, spread by the UIDs', () => {
    const waits = Array.from({ length: 100 }, (_, i) => schedule.waitMs(at(`old-${i}`, 0), undefined));
    expect(Math.max(...waits)).toBeLessThan(5 * minute);
    for (const start of [0, 1, 2, 3, 4]) {
      const inMinute = waits.filter((wait) => wait >= start * minute && wait < (start + 1) * minute);
      expect(inMinute.length).toBeGreaterThan(5);
    }
  });

  test('is at once on request', () => {
    expect(schedule.waitMs(at('new', now), 'please')).toBe(0);
  });
});

describe('the next sync', () => {
  test('is an interval later, or at once for a new request', () => {
    const one = at('one', now);
    schedule.succeeded(one, 'first');
    expect(schedule.waitMs(one, 'first')).toBe(5 * minute);
    expect(schedule.waitMs(one, 'second')).toBe(0);
    now += 5 * minute;
    expect(schedule.waitMs(one, undefined)).toBe(0);
  });

  test.each([
    ['fast', 0, 0, 5 * minute],
    ['slow', 24_000, 24_000, 5 * minute],
    ['too slow for the interval', 10 * minute, 10 * minute, 10 * minute],
  ])('after a list that was %s', (_what, gapMs, requested, polled) => {
    const one = at('one', now);
    schedule.succeeded(one, 'first', undefined, gapMs);
    expect(schedule.waitMs(one, 'second')).toBe(requested);
    expect(schedule.waitMs(one, undefined)).toBe(polled);
  });

  test('of a burst of requests is a second after the one before, from the fourth on', () => {
    const one = at('one', now);
    const waits = ['a', 'b', 'c', 'd', 'e', 'f'].map((request) => {
      const wait = schedule.waitMs(one, request);
      now += wait;
      schedule.succeeded(one, request);
      return wait;
    });
    expect(waits).toEqual([0, 0, 0, 1000, 1000, 1000]);
    expect(schedule.waitMs(at('other', now), 'a')).toBe(0);
    now += 3000;
    expect(
      ['g', 'h', 'i', 'j'].map((request) => {
        const wait = schedule.waitMs(one, request);
        schedule.failed(one, request, undefined);
        return wait;
      }),
    ).toEqual([0, 0, 0, 1000]);
  });

  test('that continues one with many changes is not delayed by a burst of requests', () => {
    const one = at('one', now);
    for (const request of ['a', 'b', 'c', 'd']) schedule.succeeded(one, request, 0);
    expect(schedule.waitMs(one, 'd')).toBe(0);
    expect(schedule.waitMs(one, 'e')).toBe(0);
  });

  test('that is requested after many during a long sync waits as after a burst', () => {
    const one = at('one', now);
    for (let index = 0; index < 100; index++) schedule.succeeded(one, `request ${index}`, 0);
    schedule.succeeded(one, 'request 99');
    expect(schedule.waitMs(one, 'next')).toBe(1000);
  });

  test('is earlier when the interval was made shorter', () => {
    schedule.succeeded(at('one', now, 600 * minute), undefined);
    expect(schedule.waitMs(at('one', now, minute), undefined)).toBe(minute);
    now += minute;
    expect(schedule.waitMs(at('one', now, minute), undefined)).toBe(0);
  });

  test('is delayed up to an hour after failures, and not after a success', () => {
    const one = at('one', now);
    const waits = Array.from({ length: 12 }, () => {
      schedule.failed(one, undefined, undefined);
      return schedule.waitMs(one, undefined) / 1000;
    });
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]);
    schedule.succeeded(one, undefined);
    schedule.failed(one, undefined, undefined);
    expect(schedule.waitMs(one, undefined)).toBe(10_000);
  });

  test('of a failed request is delayed too, but not of a new one', () => {
    const one = at('one', now);
    schedule.failed(one, 'first', undefined);
    expect(schedule.waitMs(one, 'first')).toBe(10_000);
    expect(schedule.waitMs(one, 'second')).toBe(0);
  });

  test('is not earlier than a busy host permits', () => {
    const one = at('one', now);
    schedule.failed(one, 'first', 15 * minute);
    expect(schedule.waitMs(one, 'first')).toBe(15 * minute);
    expect(schedule.waitMs(one, 'second')).toBe(15 * minute);
  });

  test('of a Repository with another UID is a first one', () => {
    schedule.failed(at('one', now), undefined, undefined);
    schedule.forget('one');
    expect(schedule.waitMs(at('one', now), undefined)).toBe(5 * minute);
  });
});
