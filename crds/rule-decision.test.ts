import { describe, expect, test } from '@jest/globals';
import { RuleDecisions, type RefFacts } from './rule-decision.ts';
import { syncRulesSchema, type SyncRule } from './sync-rules.ts';

const branch = (name: string): RefFacts => ({ type: 'branch', name });
const tag = (name: string): RefFacts => ({ type: 'tag', name });
/** Returns a pull request of the repository itself, as a host with all facts reports it. */
const pull = (facts: Partial<RefFacts> = {}): RefFacts => ({
  type: 'pull request',
  name: '7',
  labels: ['bug', 'preview'],
  targetBranch: 'main',
  sourceBranch: 'feature/a',
  isDraft: false,
  isFork: false,
  ...facts,
});
const unreported = pull({
  labels: undefined,
  targetBranch: undefined,
  sourceBranch: undefined,
  isDraft: undefined,
  isFork: undefined,
});
const member = { isMember: true, hasContributed: false };
const contributor = { isMember: false, hasContributed: true };
const stranger = { isMember: false, hasContributed: false };

type Written = Partial<SyncRule>;
const rulesOf = (written: readonly Written[]) => syncRulesSchema.parse(written);

describe('decides by the first rule that matches', () => {
  const pulls = (pullRequests: SyncRule['pullRequests'], rest: Written = {}): Written[] => [{ pullRequests, ...rest }];
  const built = { environment: 'built' } as const;
  test.each<[what: string, rules: Written[], ref: RefFacts, environment: string, why: string]>([
    ['no rules at all', [], branch('main'), 'none', 'no rule is for branches'],
    ['a name', [{ branches: ['main'] }], branch('main'), 'empty', 'rule 1: the name matches main'],
    ['another name', [{ branches: ['main'] }], branch('dev'), 'none', 'rule 1: the name matches none of its branches'],
    ['a tag of a branch’s name', [{ branches: ['main'] }], tag('main'), 'none', 'no rule is for tags'],
    ['a tag', [{ tags: ['v*'], ...built }], tag('v1'), 'built', 'rule 1: the name matches v*'],
    [
      'the second of two patterns',
      [{ branches: ['main', 'release/**'], environment: 'created' }],
      branch('release/1/a'),
      'created',
      'rule 1: the name matches release/**',
    ],
    [
      'an excluded name, and the next rule',
      [{ branches: ['**'], exclude: ['wip/*'], ...built }, { branches: ['wip/*'] }],
      branch('wip/a'),
      'empty',
      'rule 2: the name matches wip/*',
    ],
    [
      'an excluded name alone',
      [{ tags: ['**'], exclude: ['*-rc*'] }],
      tag('v1-rc1'),
      'none',
      'rule 1: excludes the name',
    ],
    [
      'the first of two that match, also if it creates nothing',
      [
        { branches: ['dependabot/**'], environment: 'none' },
        { branches: ['**'], ...built },
      ],
      branch('dependabot/npm'),
      'none',
      'rule 1: the name matches dependabot/**',
    ],
    ['every pull request', pulls({}), pull(), 'empty', 'rule 1: matches every pull request'],
    [
      'every pull request, of forks too',
      pulls({}),
      pull({ isFork: true }),
      'empty',
      'rule 1: matches every pull request',
    ],
    ['one of the labels', pulls({ labels: ['x', 'preview'] }), pull(), 'empty', 'rule 1: has the label preview'],
    ['no label', pulls({ labels: ['preview'] }), pull({ labels: [] }), 'none', 'rule 1: has none of its labels'],
    ['another case', pulls({ labels: ['Preview'] }), pull(), 'none', 'rule 1: has none of its labels'],
    ['a host without labels', pulls({ labels: ['x'] }), unreported, 'none', 'rule 1: the host does not report labels'],
    [
      'a target branch',
      pulls({ targetBranches: ['main', 'release/*'] }),
      pull({ targetBranch: 'release/1' }),
      'empty',
      'rule 1: the target branch matches release/*',
    ],
    [
      'another target branch',
      pulls({ targetBranches: ['main'] }),
      pull({ targetBranch: 'dev' }),
      'none',
      'rule 1: the target branch matches none of its targetBranches',
    ],
    [
      'an unknown target branch',
      pulls({ targetBranches: ['**'] }),
      unreported,
      'none',
      'rule 1: the host does not report the target branch',
    ],
    ['no draft', pulls({ drafts: false }), pull(), 'empty', 'rule 1: is not a draft'],
    ['a draft', pulls({ drafts: false }), pull({ isDraft: true }), 'none', 'rule 1: is a draft'],
    ['a wanted draft', pulls({ drafts: true }), pull({ isDraft: true }), 'empty', 'rule 1: is a draft'],
    ['no wanted draft', pulls({ drafts: true }), pull(), 'none', 'rule 1: is not a draft'],
    [
      'an unknown draft',
      pulls({ drafts: false }),
      unreported,
      'none',
      'rule 1: the host does not report whether it is a draft',
    ],
    [
      'an excluded source branch',
      pulls({}, { exclude: ['feature/*'] }),
      pull(),
      'none',
      'rule 1: excludes the source branch',
    ],
    [
      'an unknown source branch',
      pulls({}, { exclude: ['feature/*'] }),
      unreported,
      'none',
      'rule 1: the host does not report the source branch',
    ],
    ['a wanted fork', pulls({ forks: true }), pull({ isFork: true }), 'empty', 'rule 1: comes from a fork'],
    ['no wanted fork', pulls({ forks: true }), pull(), 'none', 'rule 1: does not come from a fork'],
    ['an unwanted fork', pulls({ forks: false }), pull({ isFork: true }), 'none', 'rule 1: comes from a fork'],
    [
      'a member',
      pulls({ author: 'member', forks: true }, built),
      pull({ author: member, isFork: true }),
      'built',
      'rule 1: the author is a member, comes from a fork',
    ],
    [
      'a contributor where a member is required',
      pulls({ author: 'member' }),
      pull({ author: contributor }),
      'none',
      'rule 1: the author is not a member',
    ],
    [
      'a contributor',
      pulls({ author: 'contributor' }),
      pull({ author: contributor }),
      'empty',
      'rule 1: the author is a contributor',
    ],
    [
      'a member where a contributor is required',
      pulls({ author: 'contributor' }),
      pull({ author: member }),
      'empty',
      'rule 1: the author is a contributor',
    ],
    [
      'a stranger',
      pulls({ author: 'contributor' }),
      pull({ author: stranger }),
      'none',
      'rule 1: the author is not a contributor',
    ],
    [
      'an unknown author',
      pulls({ author: 'member' }),
      pull({ author: undefined }),
      'none',
      'rule 1: the host has not reported whether the author is a member',
    ],
    [
      'somebody who is not a member, at a host that reports no contributors',
      pulls({ author: 'contributor' }),
      pull({ author: { isMember: false } }),
      'none',
      'rule 1: the host has not reported whether the author is a contributor',
    ],
    [
      'a member at a host that reports no contributors',
      pulls({ author: 'contributor' }),
      pull({ author: { isMember: true } }),
      'empty',
      'rule 1: the author is a contributor',
    ],
    [
      'all criteria',
      pulls({ labels: ['bug'], targetBranches: ['*'], drafts: false, forks: false, author: 'member' }, built),
      pull({ author: member }),
      'built',
      'rule 1: the author is a member, has the label bug, the target branch matches *, is not a draft, comes from the repository',
    ],
    [
      'the last criterion fails',
      pulls({ labels: ['bug'], targetBranches: ['*'], drafts: true }),
      pull(),
      'none',
      'rule 1: is not a draft',
    ],
  ])('%s', (_what, written, ref, environment, why) => {
    const decisions = new RuleDecisions(rulesOf(written));
    expect([decisions.decide(ref).environment, decisions.explain(ref)]).toEqual([environment, why]);
  });

  test.each(['created', 'built'] as const)('makes %s for a fork only if the rule says forks: true', (environment) => {
    const decide = (pullRequests: SyncRule['pullRequests'], isFork: boolean | undefined) => {
      const decisions = new RuleDecisions(rulesOf([{ pullRequests, environment }]));
      return [decisions.decide(pull({ isFork })).environment, decisions.explain(pull({ isFork }))];
    };
    expect(decide({ labels: ['preview'] }, true)).toEqual([
      'none',
      `rule 1: comes from a fork, and ${environment} requires forks: true`,
    ]);
    expect(decide({}, undefined)).toEqual([
      'none',
      `rule 1: counts as one from a fork, because the host does not report it, and ${environment} requires forks: true`,
    ]);
    expect(decide({ forks: false }, undefined)[0]).toBe('none');
    expect(decide({}, false)).toEqual([environment, 'rule 1: comes from the repository']);
    const forks = { forks: true, labels: ['preview'] };
    expect(decide(forks, true)[0]).toBe(environment);
    expect(decide(forks, undefined)[0]).toBe(environment);
    expect(decide(forks, false)[0]).toBe('none');
    for (const author of [undefined, 'contributor'] as const) {
      expect(() => decide({ forks: true, author }, true)).toThrow('requires labels or author: member');
    }
    expect(decide({ forks: true, author: 'member' }, true)[0]).toBe('none');
  });

  test('names each rule for the type of ref that does not match', () => {
    const rules = rulesOf([{ pullRequests: { labels: ['x'] } }, { tags: ['v*'] }, { pullRequests: { drafts: true } }]);
    expect(new RuleDecisions(rules).explain(pull())).toBe('rule 1: has none of its labels; rule 3: is not a draft');
  });

  test('returns the rule with its time to live, and when it sleeps', () => {
    const sleep = { afterSeconds: 0 };
    const rules = rulesOf([{ tags: ['*'] }, { branches: ['main'], environment: 'built', ttlSeconds: 0, sleep }]);
    const decisions = new RuleDecisions(rules);
    expect(decisions.decide(branch('main'))).toEqual({ rule: 1, environment: 'built', ttlSeconds: 0, sleep });
    expect(decisions.decide(branch('dev'))).toEqual({ rule: undefined, environment: 'none', ttlSeconds: undefined });
  });
});

describe('refuses', () => {
  test.each<[what: string, rules: unknown, path: string]>([
    ['a rule for nothing', [{ environment: 'built' }], '0'],
    ['a rule for two types', [{ branches: ['a'], tags: ['a'] }], '0'],
    ['no pattern', [{ branches: [] }], '0.branches'],
    ['a negated pattern', [{ branches: ['!main'] }], '0.branches.0'],
    ['a pattern with brackets', [{ tags: ['v[0-9]'] }], '0.tags.0'],
    ['a pattern with a space', [{ pullRequests: { targetBranches: ['a b'] } }], '0.pullRequests.targetBranches.0'],
    ['a long pattern', [{ exclude: ['a'.repeat(101)], tags: ['*'] }], '0.exclude.0'],
    ['another author', [{ pullRequests: { author: 'owner' } }], '0.pullRequests.author'],
    ['another environment', [{ tags: ['*'], environment: 'asleep' }], '0.environment'],
    ['21 rules', Array(21).fill({ tags: ['*'] }), ''],
    ['51 patterns', Array(3).fill({ branches: Array(17).fill('*') }), ''],
    ['1001 characters', Array(11).fill({ branches: ['a'.repeat(91)] }), ''],
  ])('%s', (_what, rules, path) => {
    const { error } = syncRulesSchema.safeParse(rules);
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });

  test('nothing within the limits', () => {
    const rules = Array<Written>(10).fill({ branches: ['a', '*'], exclude: ['b', 'c', 'd!'] });
    expect(syncRulesSchema.safeParse(rules).success).toBe(true);
    expect(rulesOf([{ pullRequests: {} }])).toEqual([{ pullRequests: {}, environment: 'empty' }]);
  });
});
