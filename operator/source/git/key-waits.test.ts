import { expect, test } from '@jest/globals';
import { KeyWaits } from './key-waits.ts';

test('a key that is not let in is tried after 30 s, then ever more rarely, up to 5 min', () => {
  let now = 0;
  const waits = new KeyWaits(() => now);
  const tried: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const wait = waits.refused('a');
    tried.push(wait / 1000);
    now += wait;
  }
  expect(tried).toEqual([30, 30, 60, 120, 240, 300, 300, 300]);
  expect(waits.refused('b')).toBe(30_000);
});

test('one that was let in starts anew, and so does one that nobody tried for an hour', () => {
  let now = 0;
  const waits = new KeyWaits(() => now);
  waits.refused('a');
  waits.refused('b');
  now = 120_000;
  expect(waits.refused('b')).toBe(120_000);
  waits.accepted('a');
  expect(waits.refused('a')).toBe(30_000);
  now += 3600_000;
  waits.refused('c');
  expect(waits.refused('b')).toBe(30_000);
});
