import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { CronTimers } from './cron-timers.ts';

let timers: CronTimers;

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-06-10T10:00:30Z') });
  timers = new CronTimers(silentLogger);
});

afterEach(async () => {
  await timers.stop();
  jest.useRealTimers();
});

const seconds = 1000;

test('calls at each due time until it is stopped', async () => {
  let calls = 0;
  timers.add({ expression: '*/10 * * * *', timeZone: 'UTC' }, () => (calls += 1));
  await jest.advanceTimersByTimeAsync(569 * seconds);
  expect(calls).toBe(0);
  await jest.advanceTimersByTimeAsync(1 * seconds);
  expect(calls).toBe(1);
  await jest.advanceTimersByTimeAsync(1200 * seconds);
  expect(calls).toBe(3);
  await timers.stop();
  await jest.advanceTimersByTimeAsync(3600 * seconds);
  expect(calls).toBe(3);
});

test('calls once the process continues after a time that it missed', async () => {
  let calls = 0;
  timers.add({ expression: '30 10 * * *', timeZone: 'UTC' }, () => (calls += 1));
  jest.setSystemTime(new Date('2026-06-10T11:45:00Z'));
  await jest.advanceTimersByTimeAsync(1770 * seconds);
  expect(calls).toBe(1);
});

test.each([
  ['UTC', '2026-06-10T10:00:30Z', '30 2 * * *', '2026-06-11T02:30:00.000Z'],
  ['Europe/Berlin', '2026-06-10T10:00:30Z', '30 2 * * *', '2026-06-11T00:30:00.000Z'],
  // A time that the clock skips is not due on that day.
  ['Europe/Berlin', '2026-03-28T10:00:00Z', '30 2 * * *', '2026-03-30T00:30:00.000Z'],
  ['Europe/Berlin', '2026-06-10T10:00:30Z', '*/10 * * * *', '2026-06-10T10:10:00.000Z'],
  // Both fields of days must match.
  ['UTC', '2026-06-10T10:00:30Z', '0 0 13 * fri', '2026-11-13T00:00:00.000Z'],
])('in %s, after %s, %s is due at %s', (timeZone, now, expression, due) => {
  jest.setSystemTime(new Date(now));
  expect(
    timers
      .add({ expression, timeZone }, () => undefined)()
      .toISOString(),
  ).toBe(due);
});
