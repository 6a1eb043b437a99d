import { expect, test } from '@jest/globals';
import {
  ageText,
  duration,
  durationText,
  elapsedTime,
  exactTime,
  parseDuration,
  relativeTime,
  shortAge,
} from './time.ts';

const now = 1_795_341_600;

test.each([
  [0, 'just now'],
  [-30, 'less than a minute ago'],
  [-60, '1 minute ago'],
  [-3569, '59 minutes ago'],
  [-3599, '1 hour ago'],
  [7190, 'in 2 hours'],
  [-7200, '2 hours ago'],
  [-400 * 24 * 3600, '1 year ago'],
  [30, 'in less than a minute'],
  [2 * 24 * 3600, 'in 2 days'],
])('shows a time %d seconds from now as "%s"', (seconds, expected) => {
  expect(relativeTime(now + seconds, now)).toBe(expected);
});

test.each([
  [0, 'less than a minute'],
  [60, '1 minute'],
  [3599, '1 hour'],
  [-5, 'less than a minute'],
])('shows what started %d seconds ago as lasting "%s"', (seconds, expected) => {
  expect(elapsedTime(now - seconds, now)).toBe(expected);
});

test.each([
  [0, 'now'],
  [-59, 'now'],
  [-60, '1 min'],
  [-89, '1 min'],
  [-90, '2 min'],
  [3540, '59 min'],
  [3569, '59 min'],
  [3570, '1 h'],
  [3600, '1 h'],
  [7190, '2 h'],
  [24 * 3600 - 1, '1 d'],
  [30 * 24 * 3600 - 1, '1 mo'],
  [-50 * 24 * 3600, '2 mo'],
  [-364 * 24 * 3600, '12 mo'],
  [-365 * 24 * 3600, '1 y'],
])('shows the short age of a time %d seconds from now as "%s"', (seconds, expected) => {
  expect(shortAge(now + seconds, now)).toBe(expected);
});

test.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [60, '1 min'],
  [185, '3 min 5 s'],
  [7800, '2 h 10 min'],
  [90_000, '1 d 1 h'],
  [-5, '0 s'],
])('shows a duration of %d seconds as "%s"', (seconds, expected) => {
  expect(duration(seconds)).toBe(expected);
});

test.each([
  ['12h', 43_200],
  [' 7 d ', 604_800],
  ['90s', 90],
  ['5min', 300],
  ['0', 0],
  ['12', undefined],
  ['-1h', undefined],
  ['1.5h', undefined],
  ['', undefined],
])('reads the duration %j as %p seconds', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([0, 1, 60, 90, 3600, 86_400, 604_800, 694_861])('reads back the text of %d seconds', (seconds) => {
  expect(parseDuration(durationText(seconds))).toBe(seconds);
});

test('names the zone of an exact time', () => {
  expect(exactTime(now, 'UTC')).toBe('22 Nov 2026, 10:00:00 UTC');
});

test('treats a time that is slightly in the future as now', () => {
  expect(ageText(now + 9, now, true)).toBe('now');
  expect(ageText(now + 9, now, false)).toBe('just now');
  expect(ageText(now + 3600, now, false)).toBe('in 1 hour');
  expect(ageText(now - 3600, now, true)).toBe('1 h');
});
