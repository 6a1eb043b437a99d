import { z } from 'zod';
import { sleepSettingsSchema } from './sleep.ts';

/** What a match gives a ref: no environment, one without contents, one with contents, or a built one. */
export const RULE_ENVIRONMENTS = ['none', 'empty', 'created', 'built'] as const;
export type RuleEnvironment = (typeof RULE_ENVIRONMENTS)[number];

/**
 * What a rule can require of the author of a pull request: a member of the repository, or also somebody who has contributed
 * to it before.
 */
export const RULE_AUTHORS = ['member', 'contributor'] as const;
export type RuleAuthor = (typeof RULE_AUTHORS)[number];

/** Maximum number of rules of a Repository. */
export const MAX_RULES = 20;
const maxListed = 20;
/** Maximum of all rules of a Repository: each pattern and label is compared with up to 100,000 refs in each sync. */
const max = { patterns: 50, characters: 1000 };

const notPattern =
  'must be a pattern of names such as release/**, without spaces, backslashes, brackets or a leading exclamation mark; exclusions belong in exclude';

/** Characters that Git permits in no name, and brackets, which other kinds of patterns use. */
const forbidden = String.raw`\x00-\x20\x7f~^:\\\[\]`;
const patternSchema = z
  .string()
  .min(1)
  .max(100)
  .regex(new RegExp(String.raw`^[^!${forbidden}][^${forbidden}]*$`), { error: notPattern });

const patternsSchema = (description: string) =>
  z.array(patternSchema).min(1).max(maxListed).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });

const pullRequestCriteriaSchema = z
  .object({
    labels: z.array(z.string().min(1).max(100)).min(1).max(maxListed).optional().meta({
      description: 'Labels, at least one of which the pull request must have, spelled as at the Git host.',
      'x-kubernetes-list-type': 'atomic',
    }),
    targetBranches: patternsSchema('Patterns of target branches.'),
    drafts: z.boolean().optional().meta({ description: '`true`: only drafts; `false`: no drafts.' }),
    author: z.enum(RULE_AUTHORS).optional().meta({
      description:
        'Whom the Git host must know the author as. `member`: at GitHub the owner, any member of the organization and any collaborator, also those who can only read; at GitLab Developers and above; at Gitea and Forgejo (`generic`) whoever can push, if an administrator of the repository asks over HTTP. `contributor`, at GitHub: also somebody with merged commits. Other hosts do not report authors, so the rule never matches there.',
    }),
    forks: z.boolean().optional().meta({
      description:
        '`true`: only those from forks; `false`: only those from the repository. If absent, both; with `created` and `built`, only those from the repository.',
    }),
  })
  .meta({ description: 'Open pull requests that meet all criteria; `{}`: all.' });

const oneKind = 'a rule has one of branches, tags and pullRequests';
const limitForForks =
  'with created and built, forks: true requires labels or author: member, because anybody can open pull requests from forks';

const ruleSchema = z
  .object({
    branches: patternsSchema('Patterns of branches.'),
    tags: patternsSchema('Patterns of tags.'),
    pullRequests: pullRequestCriteriaSchema.optional(),
    exclude: patternsSchema('Patterns of names that the rule does not match; for pull requests, of source branches.'),
    environment: z.enum(RULE_ENVIRONMENTS).default('empty').meta({
      description: 'What a ref gets: nothing, or an environment without contents, with contents, or built.',
    }),
    ttlSeconds: z
      .int()
      .min(0)
      .max(10 * 365 * 24 * 3600)
      .optional()
      .meta({
        description: 'Time to live of the contents; defaults to `environmentTTLSeconds`.',
      }),
    sleep: sleepSettingsSchema.optional().meta({
      description: "When the environment sleeps; each field replaces that of the repository's `sleep`.",
    }),
  })
  .refine((rule) => [rule.branches, rule.tags, rule.pullRequests].filter((one) => one !== undefined).length === 1, {
    error: oneKind,
  })
  .refine(
    ({ environment, pullRequests: { forks, labels, author } = {} }) => {
      const isLimited = labels !== undefined || author === 'member';
      return forks !== true || isLimited || (environment !== 'created' && environment !== 'built');
    },
    { error: limitForForks },
  )
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "!has(self.pullRequests) || !has(self.pullRequests.forks) || !self.pullRequests.forks || has(self.pullRequests.labels) || (has(self.pullRequests.author) && self.pullRequests.author == 'member') || !has(self.environment) || !(self.environment in ['created', 'built'])",
        message: limitForForks,
      },
      {
        rule: '[has(self.branches), has(self.tags), has(self.pullRequests)].filter(one, one).size() == 1',
        message: oneKind,
      },
    ],
  });
export type SyncRule = z.infer<typeof ruleSchema>;

const tooManyPatterns = `all rules together can have ${max.patterns} patterns and labels of ${max.characters} characters`;

/** Returns a CEL expression that sums the expression `size` over all lists of patterns. */
function sumOf(size: (list: string) => string): string {
  const sizes = [
    ...['branches', 'tags', 'exclude'].map((name) => `(has(rule.${name}) ? ${size(`rule.${name}`)} : 0)`),
    ...['targetBranches', 'labels'].map(
      (name) => `(has(rule.pullRequests) && has(rule.pullRequests.${name}) ? ${size(`rule.pullRequests.${name}`)} : 0)`,
    ),
  ];
  return `self.map(rule, ${sizes.join(' + ')}).sum()`;
}

export const syncRulesSchema = z
  .array(ruleSchema)
  .max(MAX_RULES)
  .refine(
    (rules) => {
      const all = rules.flatMap(patternsOf);
      return all.length <= max.patterns && all.join('').length <= max.characters;
    },
    { error: tooManyPatterns },
  )
  .meta({
    'x-kubernetes-list-type': 'atomic',
    'x-kubernetes-validations': [
      { rule: `${sumOf((list) => `${list}.size()`)} <= ${max.patterns}`, message: tooManyPatterns },
      {
        rule: `${sumOf((list) => `${list}.map(pattern, pattern.size()).sum()`)} <= ${max.characters}`,
        message: tooManyPatterns,
      },
    ],
  });

function patternsOf({ branches = [], tags = [], exclude = [], pullRequests }: SyncRule): string[] {
  return [...branches, ...tags, ...exclude, ...(pullRequests?.targetBranches ?? []), ...(pullRequests?.labels ?? [])];
}
