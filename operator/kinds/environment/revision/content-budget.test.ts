import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import type { Group } from '../../../../crds/group.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { ContentBudget } from './content-budget.ts';

const mebibyte = 1024 * 1024;
const limits = { writtenMiBPerMinute: 2, writtenMiBPerHour: 5, storedMiBPerAccount: 10 };

/** Groups of one account: `a1` and `a2`. `b` is of another one, `gitops` of none. */
const tenants: Record<string, string> = { a1: 'account a', a2: 'account a', b: 'account b', gitops: 'group gitops' };

/** `stored`: MiB by environment, such as `a1/main`. */
function budgetOf(stored: Record<string, number | undefined> = {}) {
  let ms = 0;
  const environments = (): Environment[] =>
    Object.entries(stored).map(([key, mib]) => {
      const [group = '', name = ''] = key.split('/');
      const metadata = { name, namespace: `group-${group}` };
      const status = mib === undefined ? {} : { storedBytes: mib * mebibyte };
      return { metadata, status } as Environment;
    });
  const keyOf = ({ metadata }: Environment) => `${metadata.namespace ?? ''}/${metadata.name}`;
  const budget = new ContentBudget({
    groups: { list: () => Object.keys(tenants).map((name) => ({ metadata: { name } }) as Group) },
    environments: {
      get: (key) => environments().find((one) => keyOf(one) === key),
      byIndex: (_index, namespace) => environments().filter(({ metadata }) => metadata.namespace === namespace),
    },
    flows: { ofGroup: (group) => ({ tenant: tenants[group] ?? '', group }) },
    limits,
    now: () => new Date(ms),
  });
  const store = (environment: string, mib: number) =>
    budget.of(environment.split('/')[0] ?? '', `group-${environment}`).requireRoom(mib * mebibyte);
  return {
    budget,
    store,
    write: (group: string, mib: number) => budget.of(group, `group-${group}/main`).spend(mib * mebibyte),
    /** Milliseconds to wait; 0 if the group can write. */
    waitMs: (group: string): number => {
      try {
        budget.requireWrites(group);
        return 0;
      } catch (error) {
        if (error instanceof Waiting) return error.afterMs;
        throw error;
      }
    },
    at: (time: number) => (ms = time),
  };
}

describe('written bytes', () => {
  test.each([
    ['below the limit', 'a1', 1.9, 'a1', 0],
    ['at the limit, until the minute is over', 'a1', 2, 'a1', 50_000],
    ['in another group of the account', 'a1', 2, 'a2', 50_000],
    ['in a group of another account', 'a1', 2, 'b', 0],
    ['in a group that no account created', 'gitops', 2, 'gitops', 50_000],
  ])('%s', (_what, writer, mib, group, expected) => {
    const { write, waitMs, at } = budgetOf();
    at(10_000);
    write(writer, mib);
    expect(waitMs(group)).toBe(expected);
  });

  test('are forgotten after the minute or the hour', () => {
    const { write, waitMs, at } = budgetOf();
    write('a1', 2);
    at(60_000);
    expect(waitMs('a1')).toBe(0);
    write('a1', 3);
    at(120_000);
    expect(waitMs('a1')).toBe(3_480_000);
    at(3_600_000);
    expect(waitMs('a1')).toBe(0);
  });

  test('are reported with what failed, why and what to do, unchanged while waiting', () => {
    const { budget, write, at } = budgetOf();
    write('a1', 2);
    const reported = () => {
      try {
        budget.requireWrites('a1');
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const first = reported();
    at(20_000);
    expect(first).toMatchObject({
      reason: 'TooManyWrittenBytes',
      message:
        'the environments of all groups of the account that created this one wrote 2 MiB to the cluster within one ' +
        'minute, which is the limit. The next commit is read when the minute is over. Mount fewer or smaller files, or ' +
        'build, rebuild and wake fewer environments at once',
    });
    expect(reported()).toMatchObject({ message: (first as Error).message });
  });
});

test('small writes count 8 KiB each', () => {
  const { budget, waitMs, at } = budgetOf();
  at(10_000);
  for (let count = 0; count < 255; count++) budget.count('account a', { metadata: { name: 'web' } });
  expect(waitMs('a1')).toBe(0);
  budget.count('account a', { metadata: { name: 'web' } });
  expect(['a1', 'a2', 'b'].map(waitMs)).toEqual([50_000, 50_000, 0]);
});

describe('stored bytes', () => {
  test.each([
    ['up to the limit', { 'a1/main': 6, 'a2/main': 1 }, 'a1/next', 3, true],
    ['beyond it', { 'a1/main': 6, 'a2/main': 1 }, 'a1/next', 3.1, false],
    ['of another account are not counted', { 'b/main': 10 }, 'a1/main', 10, true],
    ['of a group that no account created', { 'gitops/main': 10 }, 'gitops/next', 1, false],
    ['that no status records do not count', { 'a1/main': undefined }, 'a1/next', 10, true],
  ])('%s', (_what, stored, environment, mib, isAccepted) => {
    const { store } = budgetOf(stored);
    const result = () => store(environment, mib);
    if (isAccepted) expect(result).not.toThrow();
    else expect(result).toThrow(Stalled);
  });

  test('of simultaneous commits are counted together', () => {
    const { store } = budgetOf({ 'a1/one': 0, 'a2/two': 0 });
    store('a1/one', 6);
    expect(() => store('a2/two', 6)).toThrow(Stalled);
  });

  test('are counted once when the status records them', () => {
    const stored = { 'a1/one': 0, 'a2/two': 0 };
    const { store } = budgetOf(stored);
    store('a1/one', 6);
    stored['a1/one'] = 6;
    store('a2/two', 4);
    expect(() => store('a2/two', 0.1)).toThrow(Stalled);
  });

  test('that never became a status are forgotten after a minute', () => {
    const { store, at } = budgetOf({ 'a1/one': 0, 'a2/two': 0 });
    store('a1/one', 6);
    at(60_000);
    expect(() => store('a2/two', 6)).not.toThrow();
  });

  test('are reported with what failed, why and what to do', () => {
    const { store } = budgetOf({ 'gitops/main': 9.5 });
    expect(() => store('gitops/next', 0.9)).toThrow(
      expect.objectContaining({
        reason: 'TooManyStoredBytes',
        message: expect.stringMatching(
          /^the environments of the group gitops store 9\.5 MiB .* adds 0\.9 MiB to the limit of 10 MiB\. Mount fewer .* request a build; or ask an administrator/,
        ) as unknown as string,
      }),
    );
  });
});
