import { describe, expect, test } from '@jest/globals';
import { HostBusyError } from '../errors.ts';
import { ListingCosts, type ListedOrigin } from './listing-costs.ts';

const mebibyte = 1024 * 1024;
const shop: ListedOrigin = { tenant: 'account a', origin: 'https://git.example/shop.git', refs: 'all' };

function costs() {
  let ms = 1_000_000;
  return { costs: new ListingCosts(() => ms), pass: (by: number) => (ms += by) };
}

test.each([
  ['an ordinary list of 100 KiB', 0.1, 0],
  ['a large list of 1 MiB', 1, 1280],
  ['a list of 99,000 refs, 19 MiB', 19, 24_320],
])('does not repeat %s before 20 times its cost', (_what, mib, expected) => {
  const { costs: all, pass } = costs();
  all.spend(shop, mib * mebibyte);
  expect(all.waitMs(shop)).toBe(expected);
  pass(expected);
  expect(() => all.require(shop)).not.toThrow();
});

describe('after an expensive list', () => {
  test.each<[string, Partial<ListedOrigin>, boolean]>([
    ['the same origin', {}, true],
    ['requested refs of it', { refs: 'named' }, false],
    ['another origin of the tenant', { origin: 'https://git.example/other.git' }, false],
    ['the origin for another tenant', { tenant: 'account b' }, false],
  ])('%s', (_what, other, isDelayed) => {
    const { costs: all } = costs();
    all.spend(shop, 19 * mebibyte);
    const listing = () => all.require({ ...shop, ...other });
    if (isDelayed) expect(listing).toThrow(HostBusyError);
    else expect(listing).not.toThrow();
  });
});

test('looks up refs of one origin at once for a few builds, then at the same share', () => {
  const { costs: all, pass } = costs();
  const named: ListedOrigin = { ...shop, refs: 'named' };
  let lookups = 0;
  for (; all.waitMs(named) === 0; lookups += 1) all.spend(named, 19 * mebibyte);
  expect(lookups).toBe(11);
  pass(all.waitMs(named));
  all.spend(named, 19 * mebibyte);
  expect(all.waitMs(named)).toBeCloseTo((19 * 24) / 0.05, 0);
});

test('uses a twentieth of one processor for a host that is listed as often as permitted', () => {
  const { costs: all, pass } = costs();
  let listed = 0;
  for (let ms = 0; ms < 3_600_000; ms += 1000) {
    if (all.waitMs(shop) === 0) {
      all.spend(shop, 19 * mebibyte);
      listed += 1;
    }
    pass(1000);
  }
  expect((listed * 19 * 64) / 3_600_000).toBeCloseTo(0.05, 2);
});

test('uses a fifth of one processor for all hosts of a tenant, after a burst', () => {
  const { costs: all, pass } = costs();
  const origins = Array.from({ length: 100 }, (_, index) => ({ ...shop, origin: `https://git.example/${index}.git` }));
  let listed = 0;
  for (let ms = 0; ms < 3_600_000; ms += 1000) {
    for (const one of origins) {
      if (all.waitMs(one) > 0) continue;
      all.spend(one, 19 * mebibyte);
      listed += 1;
    }
    pass(1000);
  }
  expect((listed * 19 * 64) / 3_600_000).toBeLessThan(0.21);
  expect(all.waitMs({ ...shop, tenant: 'account b' })).toBe(0);
});

test('keeps the message while a repository waits', () => {
  const { costs: all, pass } = costs();
  all.spend(shop, 19 * mebibyte);
  const message = () => {
    try {
      all.require(shop);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  const first = message();
  pass(1000);
  expect(first).toMatch(/announced so many refs .* Delete branches and tags/);
  expect(message()).toBe(first);
});
