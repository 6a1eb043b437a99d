import { expect, test } from '@jest/globals';
import type { WorkingHours } from '../../../../crds/sleep.ts';
import { workingTime } from './working-hours.ts';

const week: WorkingHours['days'] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const every: WorkingHours['days'] = [...week, 'sat', 'sun'];
const berlin = { days: week, from: '08:00', to: '18:00', timeZone: 'Europe/Berlin' };

// 2026-11-20 is a Friday. Berlin is one hour ahead of UTC in winter, two in summer.
test.each<[string, WorkingHours, string, boolean, string | undefined]>([
  ['before they start', berlin, '2026-11-20T06:59:59Z', false, '2026-11-20T07:00:00Z'],
  ['when they start', berlin, '2026-11-20T07:00:00Z', true, '2026-11-20T17:00:00Z'],
  ['just before they end', berlin, '2026-11-20T16:59:59Z', true, '2026-11-20T17:00:00Z'],
  ['when they end on a Friday', berlin, '2026-11-20T17:00:00Z', false, '2026-11-23T07:00:00Z'],
  ['on a Sunday', berlin, '2026-11-22T10:00:00Z', false, '2026-11-23T07:00:00Z'],
  ['in summer', berlin, '2026-07-03T06:00:00Z', true, '2026-07-03T16:00:00Z'],
  ['over the end of summer time', berlin, '2026-10-23T20:00:00Z', false, '2026-10-26T07:00:00Z'],
  ['over its start', berlin, '2026-03-27T20:00:00Z', false, '2026-03-30T06:00:00Z'],
  [
    'after midnight of a night shift',
    { ...berlin, from: '22:00', to: '06:00' },
    '2026-11-21T02:00:00Z',
    true,
    '2026-11-21T05:00:00Z',
  ],
  [
    'after midnight of a day off',
    { ...berlin, from: '22:00', to: '06:00' },
    '2026-11-22T02:00:00Z',
    false,
    '2026-11-23T21:00:00Z',
  ],
  [
    'of whole days',
    { days: ['sat', 'sun'], from: '00:00', to: '00:00', timeZone: 'UTC' },
    '2026-11-21T12:00:00Z',
    true,
    '2026-11-22T00:00:00Z',
  ],
  [
    'of one day a week',
    { days: ['thu'], from: '09:00', to: '10:00', timeZone: 'UTC' },
    '2026-11-26T10:00:00Z',
    false,
    '2026-12-03T09:00:00Z',
  ],
  [
    'that the clocks skip',
    { days: every, from: '02:00', to: '03:00', timeZone: 'Europe/Berlin' },
    '2026-03-29T01:30:00Z',
    false,
    '2026-03-30T00:00:00Z',
  ],
  [
    'that the clocks show twice',
    { days: every, from: '02:00', to: '03:00', timeZone: 'Europe/Berlin' },
    '2026-10-25T01:30:00Z',
    true,
    '2026-10-25T02:00:00Z',
  ],
  [
    'in a zone with another date',
    { days: ['mon'], from: '08:00', to: '09:00', timeZone: 'Pacific/Auckland' },
    '2026-11-22T19:30:00Z',
    true,
    '2026-11-22T20:00:00Z',
  ],
])('working hours: %s', (_what, hours, now, isWorking, until) => {
  const shown = workingTime(hours, new Date(now));
  expect([shown.isWorking, shown.until?.toISOString().replace('.000Z', 'Z')]).toEqual([isWorking, until]);
});
