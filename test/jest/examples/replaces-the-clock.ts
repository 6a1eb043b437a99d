// A file that native-runner.test.ts runs before uses-the-clock.ts, in the same process.
import { expect, jest, test } from '@jest/globals';

test('replaces the clock', () => {
  jest.useFakeTimers({ now: 0 });
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  expect(Date.now()).toBe(0);
});
