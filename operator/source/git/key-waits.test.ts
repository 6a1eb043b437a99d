import { expect, test } from '@jest/globals';
import { KeyWaits } from './key-waits.ts';

test('retries a refused key after 30 s, then less often, up to 5 min', () => {
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

test('starts over after a key was accepted, or not tried for an hour', () => {
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
