import { expect, test } from '@jest/globals';
import { cronFault } from './cron-expression.ts';

test.each([
  '17 * * * *',
  '*/10 * * * *',
  '0 3 * * MON-FRI',
  '0 0 L * *',
  '0 0 29 2 *',
  '5,35 0-6 1 jan,jul 0',
  '0 4 * * 7',
])('accepts %j', (expression) => {
  expect(cronFault(expression)).toBeUndefined();
});

test.each([
  ['', /^has 0 fields: write minute, hour/],
  ['@daily', /^has 1 fields/],
  ['* * * * * *', /^has 6 fields/],
  ['60 * * * *', /^has a minute that cannot occur \(60\): correct it, such as/],
  ['0 24 * * *', /^has a hour that cannot occur \(24\)/],
  ['0 0 30 2 *', /^has a day of month that cannot occur \(30\)/],
  ['0 0 * * 8', /^has a day of week that cannot occur \(8\)/],
  ['*/0 * * * *', /^has a minute that cannot occur/],
  ['5/3 * * * *', /^has a minute that cannot occur/],
  ['a b c d e', /that cannot occur/],
  ['0 0 0 * * # x', /^has 7 fields/],
])('refuses %j', (expression, fault) => {
  expect(cronFault(expression)).toMatch(fault);
});
