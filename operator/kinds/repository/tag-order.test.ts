import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/properties.ts';
import { newestTags } from './tag-order.ts';

describe('the order of tags', () => {
  test.each([
    ['numbers count, not characters', ['v1.9.0', 'v1.10.0', 'v2.0']],
    ['orders a pre-release before its release', ['1.0-alpha', '1.0-rc.2', '1.0-rc.10', '1.0', '1.0.1']],
    ['orders a build after its release', ['1.0', '1.0+2', '1.0+10']],
    ['orders a longer version after a shorter one', ['v1', 'v1.0', 'v1.0.0', 'v1.0.1']],
    ['dates', ['2025-12-31', '2026-01-05', '2026-01-30', '2026-02-01']],
    ['orders names without a number first', ['latest', 'stable', 'v0.0.1']],
    ['numbers beyond any integer type', ['v99999999999999999998', 'v99999999999999999999']],
    ['ignores leading zeros', ['v007', 'v08']],
    ['in folders', ['web/v1.2', 'api/v1.3']],
  ])('%s', (_what, ascending) => {
    const descending = [...ascending].reverse();
    expect(newestTags(ascending, ascending.length)).toEqual(descending);
    expect(newestTags(descending, ascending.length)).toEqual(descending);
  });

  test('returns the newest tags, newest first', () => {
    expect(newestTags(['v1', 'latest', 'v10', 'v9', 'v2'], 3)).toEqual(['v10', 'v9', 'v2']);
    expect(newestTags(['v1'], 0)).toEqual([]);
  });

  test('does not depend on the given order, whatever the names', () => {
    const name = fc.stringMatching(/^[v1-3.+a-]{1,8}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
        expect(newestTags([...names].reverse(), 8)).toEqual(newestTags(names, 8));
        expect(newestTags(names, 3)).toEqual(newestTags(names, 8).slice(0, 3));
      }),
    );
  });

  test('orders 20,000 long names that differ only at their end within a second of processor time', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `${'1.'.repeat(97)}${100_000 + index}`);
    const { user } = process.cpuUsage();
    expect(newestTags(names, 1000)[0]).toBe(names.at(-1));
    expect((process.cpuUsage().user - user) / 1000).toBeLessThan(1000);
  });

  test('considers the later ones of more than 20,000 names', () => {
    const names = Array.from({ length: 20_001 }, (_, i) => (i === 0 ? 'v99999' : `v${i}`));
    expect(newestTags(names, 2)).toEqual(['v20000', 'v19999']);
  });
});
