import { describe, expect, test } from '@jest/globals';
import { isDue, scheduleOf, seenSchedule } from './schedule.ts';

const settings = { mode: 'all', hour: '02:00', timeZone: 'UTC' } as const;
const noon = new Date('2026-05-02T12:00:00Z');
const minuteOf = (date: Date | undefined) => date?.getUTCHours() === 2 && date.getUTCMinutes();

test.each([
  [undefined],
  [{ ...settings, mode: 'disabled' as const }],
  [{ mode: 'all' as const, timeZone: 'UTC' }],
  [{ ...settings, timeZone: 'Europe/Berln' }],
])('rebuilds nothing for %j', (none) => {
  expect(scheduleOf(none, 'uid', noon)).toBeUndefined();
});

test('spreads a thousand environments over half an hour, each always at the same minute', () => {
  const minutes = Array.from({ length: 1000 }, (_, index) =>
    minuteOf(scheduleOf(settings, `uid-${index}`, noon)?.last),
  );
  const perMinute = minutes.map((minute) => minutes.filter((other) => other === minute).length);
  expect(new Set(minutes).size).toBe(30);
  expect(Math.max(...perMinute)).toBeLessThan(60);
  expect(minuteOf(scheduleOf(settings, 'uid-7', noon)?.next)).toBe(minutes[7]);
});

test('turns the next time into the last', () => {
  const before = scheduleOf(settings, 'uid', noon);
  const after = scheduleOf(settings, 'uid', before?.next ?? noon);
  expect(after?.last).toEqual(before?.next);
  expect(after?.next.getTime()).toBe((before?.next.getTime() ?? 0) + 24 * 3600_000);
});

describe('a scheduled time is due', () => {
  const schedule = scheduleOf(settings, 'uid', noon);
  const seen = { setting: 'all 02:00 UTC', since: '2026-04-01T00:00:00Z' };

  test.each([
    ['for contents of the day before', seen, '2026-05-01T23:00:00Z', true],
    ['for contents that missed many runs, once', seen, '2026-04-03T00:00:00Z', true],
    ['not for newer contents', seen, '2026-05-02T03:00:00Z', false],
    ['not where it was set since', { ...seen, since: '2026-05-02T09:00:00Z' }, '2026-04-03T00:00:00Z', false],
    ['not without a schedule', undefined, '2026-04-03T00:00:00Z', false],
  ])('%s', (_what, remembered, since, expected) => {
    expect(isDue(schedule, remembered, since)).toBe(expected);
  });

  test('counts a schedule from when it was set or last changed', () => {
    expect(seenSchedule(schedule, seen, noon)).toBe(seen);
    expect(seenSchedule(schedule, { ...seen, setting: 'all 03:00 UTC' }, noon)?.since).toBe(noon.toISOString());
    expect(seenSchedule(undefined, seen, noon)).toBeUndefined();
  });
});

describe('a due rebuild starts', () => {
  const at = (time: string) => new Date(`2026-05-02T${time}Z`);
  const uids = Array.from({ length: 1000 }, (_, index) => `uid-${index}`);
  const startsOf = (now: Date) => uids.map((uid) => scheduleOf(settings, uid, now)?.starts.getTime() ?? 0);

  test.each(['02:29:30', '02:45:00', '02:59:00'])('at once if it is noticed at %s', (time) => {
    expect(new Set(startsOf(at(time)))).toEqual(new Set([at(time).getTime()]));
  });

  test('within half an hour, a few each minute, if the time was missed by far', () => {
    const now = at('08:07:00');
    const minutes = startsOf(now).map((starts) => Math.floor((starts - now.getTime()) / 60_000));
    const perMinute = [...Map.groupBy(minutes, (minute) => minute).values()].map(({ length }) => length);
    expect(Math.min(...minutes)).toBe(0);
    expect(Math.max(...minutes)).toBeLessThan(30);
    expect(Math.max(...perMinute)).toBeLessThan(120);
  });

  test('when it was announced, even if that is noticed a little late', () => {
    const reported = scheduleOf(settings, 'uid', at('08:07:00'))?.starts ?? noon;
    const late = new Date(reported.getTime() + 60_000);
    expect(scheduleOf(settings, 'uid', late)?.starts).toEqual(late);
  });
});
