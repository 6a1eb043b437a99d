import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { syncRulesSchema } from '../../../crds/sync-rules.ts';
import { decideRefs, listedRefs, NO_RULES } from './ref-decisions.ts';
import type { RefListing } from './ref-listing.ts';

const commit = '1'.repeat(40);

function listing(rest: Partial<RefListing>): RefListing {
  return {
    branches: new Map(),
    tags: new Map(),
    openPullRequests: new Set(),
    pullRequestCommits: new Map(),
    ...rest,
  };
}

const names = (count: number, name: (index: number) => string) =>
  new Map(Array.from({ length: count }, (_, index) => [name(index), commit]));

test('lists refs with what the host reports, and pull requests of events where it has no list', () => {
  const facts = { labels: ['x'], isFork: true };
  const found = listing({
    branches: new Map([['main', commit]]),
    tags: new Map([
      ['v1', commit],
      ['v'.repeat(201), commit],
    ]),
    openPullRequests: new Set([7]),
    pullRequestFacts: new Map([[7, facts]]),
  });
  expect(listedRefs(found, [])).toEqual([
    { type: 'branch', name: 'main' },
    { type: 'pull request', name: '7', ...facts },
    { type: 'tag', name: 'v1' },
  ]);
  const events = [
    { number: 3, isOpen: true, facts: { labels: ['y'] } },
    { number: 4, isOpen: false },
  ];
  const author = { isMember: true };
  expect(listedRefs(listing({ openPullRequests: undefined, authors: new Map([[3, author]]) }), events)).toEqual([
    { type: 'pull request', name: '3', labels: ['y'], author },
  ]);
});

test('reports what each rule matches with examples, in a bounded size', async () => {
  const rules = syncRulesSchema.parse([
    { branches: ['a*'] },
    { branches: ['**'], exclude: ['z*'], environment: 'built' },
    { tags: ['v*'] },
  ]);
  const branches = names(1000, (index) => `${'abz'[index % 3]}${'x'.repeat(100)}${index}`);
  const found = listing({ branches, tags: new Map([['nightly', commit]]), openPullRequests: new Set([1, 2]) });
  const { report, of } = await decideRefs(rules, listedRefs(found, []));
  const long = `${'x'.repeat(59)}…`;
  expect(report).toEqual({
    rules: [
      { matched: 334, examples: Array(3).fill(`a${long}`) },
      { matched: 333, examples: Array(3).fill(`b${long}`) },
      { matched: 0, examples: [] },
    ],
    unmatched: {
      count: 336,
      examples: [
        {
          ref: `branch z${long}`,
          why: 'rule 1: the name matches none of its branches; rule 2: excludes the name',
        },
        { ref: 'pull request 1', why: 'no rule is for pullRequests' },
        { ref: 'tag nightly', why: 'rule 3: the name matches none of its tags' },
      ],
    },
  });
  expect(of({ type: 'branch', name: [...branches.keys()][1] ?? '' })).toMatchObject({ rule: 1, environment: 'built' });
  expect(of({ type: 'tag', name: 'nightly' })).toMatchObject({ rule: undefined, environment: 'none' });
});

test('decides nothing by a name that is too long for an environment', async () => {
  const found = listing({ branches: new Map([['x'.repeat(201), commit]]) });
  const { report } = await decideRefs(syncRulesSchema.parse([{ branches: ['**'] }]), listedRefs(found, []));
  expect(report).toMatchObject({ rules: [{ matched: 0 }], unmatched: { examples: [{ why: 'the name is too long' }] } });
});

test('gives every ref an empty environment without rules, and reports nothing', async () => {
  expect(await decideRefs(undefined, [])).toBe(NO_RULES);
  expect(NO_RULES.of({ type: 'tag', name: 'v1' })).toMatchObject({ environment: 'empty' });
  expect(NO_RULES.report).toEqual({});
});

test('lets other work continue between 100,000 refs', async () => {
  const rules = syncRulesSchema.parse([{ branches: ['*a'.repeat(50)] }]);
  const branches = names(100_000, (index) => `${'a'.repeat(30)}${index}`);
  const refs = listedRefs(listing({ branches }), []);
  const other = { runs: 0, isDone: false };
  const decided = decideRefs(rules, refs).finally(() => (other.isDone = true));
  for (; !other.isDone; other.runs += 1) await setImmediate();
  // A run for each 5 ms: on any processor this takes longer than 25 ms.
  expect(other.runs).toBeGreaterThanOrEqual(5);
  expect((await decided).report.unmatched?.count).toBe(100_000);
});
