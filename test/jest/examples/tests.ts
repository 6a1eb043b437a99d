// Tests that native-runner.test.ts runs. All but the first must fail.
import { describe, expect, jest, test } from '@jest/globals';

jest.setTimeout(200);
const pause = (milliseconds: number) => new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));

describe('a group', () => {
  test('passes', () => {
    expect(1).toBe(1);
  });
});

test('compares unequal values', () => {
  expect(1).toBe(2);
});

test('exceeds its deadline', () => new Promise<void>(() => undefined));

test('leaves a rejection unhandled', async () => {
  void Promise.reject(new Error('nobody handles this'));
  await pause(10);
});

test('throws in a timer', async () => {
  setTimeout(() => {
    throw new Error('thrown in a timer');
  }, 1);
  await pause(20);
});
