import { describe, expect, test } from '@jest/globals';
import { asleepText, hoursText, WORKDAYS, type Day } from './sleep-text.ts';

describe('working hours', () => {
  test.each<[days: readonly Day[], text: string]>([
    [WORKDAYS, 'Monday to Friday'],
    [['sun', 'sat', 'fri', 'thu', 'wed', 'tue', 'mon'], 'every day'],
    [['wed'], 'Wednesday'],
    [['tue', 'mon'], 'Monday, Tuesday'],
    [['mon', 'wed', 'fri'], 'Monday, Wednesday, Friday'],
  ])('on %j are %s', (days, text) => {
    expect(hoursText({ days: [...days], from: '08:00', to: '18:00', timeZone: 'UTC' })).toBe(
      `${text}, 08:00 to 18:00 (UTC)`,
    );
  });
});

describe('a sleeping environment', () => {
  test.each([
    ['Idle', undefined, /nobody visited it\. It wakes when somebody opens its address/],
    ['OutsideWorkingHours', 'login', /outside of working hours\. Members wake it/],
    ['Requested', 'never', /somebody requested it\. A visit does not wake it/],
    // The former reason, while a request to sleep is not handled yet.
    ['Visited', 'visit', /^Its services are being stopped\. It wakes/],
    [undefined, 'visit', /^Its services are being stopped\./],
  ] as const)('by %s with wakeOn %s', (reason, wakeOn, expected) => {
    expect(asleepText(reason, wakeOn)).toMatch(expected);
  });
});
