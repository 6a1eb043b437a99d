import { expect, test } from '@jest/globals';
import { HostBusyError } from '../errors.ts';
import { BusyHosts } from './busy-hosts.ts';

function busyHosts(random = 0) {
  let ms = 0;
  const busy = new BusyHosts(
    () => new Date(ms),
    () => random,
  );
  /** Returns how long the asker has to wait; 0: not at all. */
  const waitOf = (asker: string, at: number): number => {
    ms = at;
    try {
      busy.check(asker);
      return 0;
    } catch (error) {
      if (error instanceof HostBusyError) return error.retryAfterMs;
      throw error;
    }
  };
  const add = (asker: string, retryAfterMs: number) => busy.add(asker, new HostBusyError('come back', retryAfterMs));
  return { busy, add, waitOf };
}

test('delays those who share the limited token until its time, and nobody else', () => {
  const { add, waitOf } = busyHosts();
  expect(waitOf('one', 0)).toBe(0);
  add('one', 20_000);
  expect([waitOf('one', 0), waitOf('one', 19_000), waitOf('one', 20_000)]).toEqual([20_000, 1000, 0]);
  expect(waitOf('other', 0)).toBe(0);
});

test('does not shorten a wait by a later shorter one', () => {
  const { add, waitOf } = busyHosts();
  add('one', 60_000);
  add('one', 5000);
  expect(waitOf('one', 0)).toBe(60_000);
});

test.each([
  [2000, 2500],
  [60_000, 63_000],
  [3600_000, 3630_000],
])('spreads those that wait %i ms', (retryAfterMs, expected) => {
  const { add, waitOf } = busyHosts(0.5);
  add('one', retryAfterMs);
  expect(waitOf('one', 0)).toBe(expected);
});

test('reports the same message each time', () => {
  const { busy, add } = busyHosts();
  add('one', 1000);
  expect(() => busy.check('one')).toThrow(new HostBusyError('come back', 1000));
});
