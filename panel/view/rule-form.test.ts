import { describe, expect, test } from '@jest/globals';
import { formOf, NEW_RULE, ruleOf, ruleText, type Rule, type RuleForm } from './rule-form.ts';

describe('a rule', () => {
  test.each<[rule: Rule, text: string]>([
    [{ branches: ['main'], environment: 'empty' }, 'Branches main: an empty environment'],
    [
      { branches: ['main', 'release/**'], exclude: ['release/old', '*-x'], environment: 'built', ttlSeconds: 259_200 },
      'Branches main release/** except release/old *-x: a built environment for 3d',
    ],
    [{ tags: ['v*'], environment: 'created', ttlSeconds: 0 }, 'Tags v*: an environment with contents'],
    [
      { tags: ['v*'], environment: 'created', sleep: { wakeOn: 'login', afterSeconds: 7200 } },
      'Tags v*: an environment with contents, sleeps after 2h',
    ],
    [
      { branches: ['main'], environment: 'built', ttlSeconds: 3600, sleep: { afterSeconds: 0 } },
      'Branches main: a built environment for 1h, never sleeps when idle',
    ],
    [{ pullRequests: {}, environment: 'none' }, 'Pull requests: no environment'],
    [
      {
        pullRequests: {
          labels: ['a b', 'c'],
          targetBranches: ['main', 'dev'],
          drafts: false,
          forks: true,
          author: 'contributor',
        },
        exclude: ['bot/**'],
        environment: 'built',
      },
      'Pull requests of a contributor with a label of a b, c into main dev that are not drafts from forks except from bot/**: a built environment',
    ],
    [
      { pullRequests: { drafts: true, forks: false }, environment: 'empty' },
      'Pull requests that are drafts from the repository: an empty environment',
    ],
  ])('is the same after its form: %j', (rule, text) => {
    expect(ruleOf(formOf(rule))).toEqual(rule);
    const { matches, gets } = ruleText(rule);
    expect(`${matches}: ${gets}`).toBe(text);
  });
});

test.each<[changes: Partial<RuleForm>, rule: object]>([
  [{ patterns: '  main\n dev ' }, { branches: ['main', 'dev'], environment: 'built' }],
  [{ patterns: ' ' }, { field: 'patterns', fault: 'must name a pattern' }],
  [
    { patterns: 'a', ttl: 'soon' },
    { field: 'ttl', fault: 'must be a duration, such as 12h or 7d' },
  ],
  [
    { patterns: 'a', sleepAfter: 'soon' },
    { field: 'sleepAfter', fault: 'must be a duration, such as 30m or 4h' },
  ],
  [
    { kind: 'pullRequests', labels: ' preview , , needs qa', patterns: 'of another type' },
    { pullRequests: { labels: ['preview', 'needs qa'] }, environment: 'built' },
  ],
  [
    { kind: 'tags', patterns: 'v*', labels: 'x' },
    { tags: ['v*'], environment: 'built' },
  ],
])('reads the form %j', (changes, rule) => {
  expect(ruleOf({ ...NEW_RULE, ...changes })).toEqual(rule);
});
