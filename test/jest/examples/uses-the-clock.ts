// A file that native-runner.test.ts runs after replaces-the-clock.ts, in the same process.
import { expect, test } from '@jest/globals';

test('sees the real clock', () => {
  expect(Date.now()).toBeGreaterThan(0);
  expect(Math.random() === 0.5 && Math.random() === 0.5).toBe(false);
});
