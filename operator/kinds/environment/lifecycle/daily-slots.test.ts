import { expect, jest, test } from '@jest/globals';
import { lastSlot, nextSlot } from './daily-slots.ts';

const berlin = 'Europe/Berlin';

test.each([
  ['slot earlier on the same day', '02:00', 'UTC', '2026-05-01T10:00:00Z', '2026-05-01T02:00:00Z'],
  ['slot in this minute', '02:00', 'UTC', '2026-05-01T02:00:00Z', '2026-05-01T02:00:00Z'],
  ['slot on the day before', '02:00', 'UTC', '2026-05-01T01:59:59Z', '2026-04-30T02:00:00Z'],
  ['zone ahead of UTC', '02:00', 'Asia/Tokyo', '2026-05-01T10:00:00Z', '2026-04-30T17:00:00Z'],
  ['zone far ahead of UTC', '00:30', 'Pacific/Kiritimati', '2026-05-01T10:00:00Z', '2026-04-30T10:30:00Z'],
  ['zone behind UTC', '23:15', 'America/Los_Angeles', '2026-05-01T10:00:00Z', '2026-05-01T06:15:00Z'],
  ['zone with a half-hour offset', '02:00', 'Asia/Kolkata', '2026-05-01T10:00:00Z', '2026-04-30T20:30:00Z'],
  ['summer time', '02:00', berlin, '2026-07-01T10:00:00Z', '2026-07-01T00:00:00Z'],
  ['winter time', '02:00', berlin, '2026-01-01T10:00:00Z', '2026-01-01T01:00:00Z'],
  ['slot skipped when clocks are set forward', '02:30', berlin, '2026-03-29T12:00:00Z', '2026-03-29T01:30:00Z'],
  ['before clocks are set forward past the slot', '02:30', berlin, '2026-03-29T00:59:00Z', '2026-03-28T01:30:00Z'],
  ['clocks set forward before the slot', '03:30', berlin, '2026-03-29T12:00:00Z', '2026-03-29T01:30:00Z'],
  [
    'clocks set back after the slot, so that it occurs twice',
    '02:30',
    berlin,
    '2026-10-25T12:00:00Z',
    '2026-10-25T00:30:00Z',
  ],
  ['between the two occurrences', '02:30', berlin, '2026-10-25T01:00:00Z', '2026-10-25T00:30:00Z'],
  ['slot at midnight before clocks are set back', '00:00', berlin, '2026-10-25T23:30:00Z', '2026-10-25T23:00:00Z'],
  [
    'clocks set forward by half an hour past the slot',
    '02:15',
    'Australia/Lord_Howe',
    '2026-10-04T02:00:00Z',
    '2026-10-03T15:45:00Z',
  ],
])('returns the last slot: %s (%s in %s, at %s)', (_what, hour, timeZone, now, expected) => {
  expect(lastSlot({ hour, timeZone }, new Date(now)).toISOString()).toBe(expected.replace('Z', '.000Z'));
});

test.each([
  ['later the same day', '2026-05-01T01:59:00Z', '2026-05-01T02:00:00Z'],
  ['not the current minute', '2026-05-01T02:00:00Z', '2026-05-02T02:00:00Z'],
  ['the next day', '2026-05-01T02:00:01Z', '2026-05-02T02:00:00Z'],
])('returns %s as the next slot', (_what, now, expected) => {
  expect(nextSlot({ hour: '02:00', timeZone: 'UTC' }, new Date(now))).toEqual(new Date(expected));
});

test('returns one slot for each day of a year', () => {
  const slots = new Set<number>();
  const from = Date.UTC(2026, 0, 1, 12);
  for (let day = 0; day < 365; day++) {
    for (const hours of [0, 5, 11, 13, 19]) {
      const now = new Date(from + (day * 24 + hours) * 3600_000);
      slots.add(lastSlot({ hour: '02:30', timeZone: berlin }, now).getTime());
    }
  }
  const gaps = [...slots].sort((a, b) => a - b).map((slot, index, all) => slot - (all[index - 1] ?? slot - 86_400_000));
  expect(slots.size).toBe(366);
  expect(new Set(gaps.map((gap) => gap / 3600_000))).toEqual(new Set([24, 23, 25]));
});

test('keeps one clock for all spellings of a zone', () => {
  const created = jest.spyOn(Intl, 'DateTimeFormat');
  const moment = new Date('2026-05-01T10:00:00Z');
  const slots = ['America/Sao_Paulo', 'america/sao_paulo', 'AMERICA/SAO_PAULO'].map((timeZone) =>
    lastSlot({ hour: '02:00', timeZone }, moment).toISOString(),
  );
  expect(slots).toEqual(Array.from({ length: 3 }, () => '2026-05-01T05:00:00.000Z'));
  expect(created).toHaveBeenCalledTimes(1);
  created.mockRestore();
});
