import { expect, test } from '@jest/globals';
import { afterRun, planRun, type PlanInput, type RunPlan } from './plan.ts';
import type { HousekeepingRecord } from './record.ts';

const at = (time: string) => new Date(`2026-06-10T${time}:00Z`);
const schedule = { expression: '17 * * * *', timeZone: 'UTC' };
const lastRun = { at: at('08:17'), outcome: 'succeeded' as const, seconds: 1, message: 'done' };
const record = (nextRun: Date, more: Partial<HousekeepingRecord> = {}): HousekeepingRecord => ({
  schedule: '17 * * * *',
  timeZone: 'UTC',
  nextRun,
  lastRun,
  ...more,
});
const minutes = 60_000;

const table: [string, Partial<PlanInput>, RunPlan][] = [
  [
    'stores the first time after an installation',
    { record: undefined },
    { store: { schedule: '17 * * * *', timeZone: 'UTC', nextRun: at('10:17') } },
  ],
  ['waits for the time of the schedule', { record: record(at('10:17')) }, { afterMs: undefined }],
  ['runs at the stored time', { record: record(at('10:00')) }, { run: true }],
  ['makes up a run whose time passed while nobody led', { record: record(at('09:17')) }, { run: true }],
  ['makes up several once', { record: record(at('02:17')) }, { run: true }],
  [
    'makes up a run although the schedule has changed since',
    { record: record(at('09:17'), { schedule: '0 0 1 1 *' }) },
    { run: true },
  ],
  [
    'delays a run that would be too early after the start',
    { record: record(at('09:17')), notBefore: at('10:06') },
    { afterMs: 6 * minutes },
  ],
  ['runs when that time has come', { record: record(at('09:17')), notBefore: at('10:00') }, { run: true }],
  [
    'stores the time of another expression',
    { record: record(at('12:00'), { schedule: '0 12 * * *' }) },
    { store: record(at('10:17')) },
  ],
  [
    'stores the time of another time zone',
    { record: record(at('12:00'), { timeZone: 'Asia/Tokyo' }) },
    { store: record(at('10:17')) },
  ],
  ['waits for a repetition', { record: record(at('10:05')) }, { afterMs: 5 * minutes }],
];

test.each(table)('%s', (_what, input, expected) => {
  expect(planRun({ schedule, record: undefined, now: at('10:00'), due: at('10:17'), ...input })).toEqual(expected);
});

test.each([
  ['the time of the schedule', undefined, at('10:17')],
  ['a repetition', 5 * minutes, at('10:05')],
  ['the time of the schedule, which is before the repetition', 30 * minutes, at('10:17')],
])('stores %s after a run', (_what, repeatAfterMs, nextRun) => {
  const input = { schedule, now: at('10:00'), due: at('10:17') };
  expect(afterRun(input, lastRun, repeatAfterMs)).toEqual(record(nextRun));
});
