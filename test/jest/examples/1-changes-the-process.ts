// A file that native-runner.test.ts runs before 2-uses-the-process.ts, in the same process.
import { expect, jest, test } from '@jest/globals';
import { files } from './shared.ts';

test('changes the clock, a function, a variable and the signal handlers', () => {
  files.push('1');
  jest.useFakeTimers({ now: 0 });
  jest.spyOn(Math, 'random').mockReturnValue(2);
  process.env['COPPICE_EXAMPLE'] = 'changed';
  process.on('SIGHUP', () => undefined);
  expect([Date.now(), Math.random()]).toEqual([0, 2]);
});
