import { expect, test } from '@jest/globals';
import { planRotation, readKeys, signingKey, type CredentialKey } from './credential-keys.ts';

const start = 1_700_000_000;
const day = 24 * 3600;
const keyOf = (createdAt: number): CredentialKey => ({ createdAt, key: Buffer.alloc(32, createdAt % 251) });
const encoded = Buffer.alloc(32, 7).toString('base64');

test('reads keys by age, and ignores everything else', () => {
  const data = {
    [String(start + day)]: encoded,
    [String(start)]: encoded,
    [String(start + 1)]: Buffer.alloc(16).toString('base64'),
    '..data': encoded,
    note: encoded,
  };
  expect(readKeys(data).map(({ createdAt }) => createdAt)).toEqual([start, start + day]);
  expect(readKeys(undefined)).toEqual([]);
});

test.each([
  ['the only one, though it is new', [start], start, start],
  ['the former one for ten minutes', [start, start + day], start + day + 599, start],
  ['then the new one', [start, start + day], start + day + 600, start + day],
  ['the oldest for a time before all', [start, start + day], start - 7 * day, start],
])('signs with %s', (_what, created, at, expected) => {
  expect(signingKey(created.map(keyOf), at)?.createdAt).toBe(expected);
});

test.each<[string, number[], number, boolean, number[]]>([
  ['a first key', [], 0, true, []],
  ['nothing for 30 days', [0], 30 * day - 1, false, []],
  ['a second key then', [0], 30 * day, true, []],
  ['to keep the first key while its credentials are valid', [0, 30 * day], 45 * day, false, []],
  ['the first one removed then', [0, 30 * day], 45 * day + 600, false, [0]],
  ['never the newest removed', [0], 400 * day, true, []],
])('plans %s', (_what, created, at, add, removed) => {
  const plan = planRotation(
    created.map((one) => keyOf(start + one)),
    start + at,
  );
  expect(plan.add).toBe(add);
  expect(plan.remove.map(({ createdAt }) => createdAt - start)).toEqual(removed);
});
