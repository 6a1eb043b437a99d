// Tests that native-runner.test.ts runs. All must fail, except those in groups.
import { beforeAll, describe, expect, jest, test } from '@jest/globals';

jest.setTimeout(200);
const pause = (milliseconds: number) => new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));

describe('a group', () => {
  test('passes', () => {
    expect(1).toBe(1);
  });

  test('handles a rejection late', async () => {
    const late = Promise.reject(new Error('handled in time'));
    await pause(5);
    await expect(late).rejects.toThrow('handled');
  });
});

describe('a group with a failing beforeAll', () => {
  beforeAll(() => {
    throw new Error('before all');
  });

  test('fails', () => undefined);

  test.skip('is skipped', () => undefined);
});

test('compares unequal values', () => {
  expect(1).toBe(2);
});

test('exceeds its timeout', () => new Promise<void>(() => undefined));

test('leaves a rejection unhandled', () => {
  void Promise.reject(new Error('nobody handles this'));
});

test('throws an error that contains itself', () => {
  const error = new Error('cyclic');
  throw Object.assign(error, { error });
});

test('throws in a timer', async () => {
  setTimeout(() => {
    throw new Error('thrown in a timer');
  }, 1);
  await pause(20);
});

test('fails after its end', () => {
  setTimeout(() => {
    throw new Error('thrown after the end');
  }, 5);
});

describe('a later group', () => {
  test('passes while an earlier test fails', () => pause(50));
});

test('expects more assertions than it makes', () => {
  expect.assertions(2);
  expect(1).toBe(1);
});
