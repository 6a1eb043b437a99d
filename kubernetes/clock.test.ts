import { expect, jest, test } from '@jest/globals';
import { steadyClock, systemClock } from './clock.ts';

test('starts the steady clock at the system time, and ignores later changes of it', () => {
  const before = steadyClock.now();
  expect(Math.abs(before - systemClock.now())).toBeLessThan(60_000);
  const set = jest.spyOn(Date, 'now').mockReturnValue(before + 3600_000);
  try {
    expect(systemClock.now() - before).toBe(3600_000);
    expect(steadyClock.now() - before).toBeLessThan(60_000);
  } finally {
    set.mockRestore();
  }
});
