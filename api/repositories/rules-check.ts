import { setImmediate as otherRequests } from 'node:timers/promises';
import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import { GIT_REF_TYPES, gitRefKey } from '../../crds/git-ref.ts';
import { idOf, formatId } from '../../crds/ids.ts';
import type { RefSnapshot } from '../../crds/ref-snapshot.ts';
import { DEFAULT_NEWEST_TAGS, type Repository } from '../../crds/repository.ts';
import { RuleDecisions, type RefFacts } from '../../crds/rule-decision.ts';
import { RULE_ENVIRONMENTS, syncRulesSchema, type SyncRule } from '../../crds/sync-rules.ts';
import { integerField } from '../http/parse.ts';

/** Body of POST /api/repository/{id}/rules/check. */
export const rulesCheckSchema = z.object({
  rules: syncRulesSchema,
  newestTags: integerField(0, 100).optional().meta({ description: "Defaults to the repository's setting." }),
});
export type RulesCheck = z.infer<typeof rulesCheckSchema>;

const checkedRefSchema = z.object({
  type: z.enum(GIT_REF_TYPES),
  name: z.string(),
  rule: z.int().optional().meta({ description: 'The rule that decides, counted from 1; omitted if none does.' }),
  environment: z.enum(RULE_ENVIRONMENTS).meta({ description: 'What a sync would create.' }),
  sleepAfterSeconds: z.int().optional().meta({ description: 'As the rule says: 0 is never.' }),
  why: z.string(),
  id: z.string().optional().meta({ description: 'An environment of the ref, which rules do not change.' }),
});

export const rulesCheckViewSchema = z
  .object({
    listedAt: z.iso
      .datetime()
      .optional()
      .meta({ description: 'When the refs were listed; omitted if no sync has listed them within a day.' }),
    matched: z.array(z.int()).meta({ description: 'Number of refs that each rule decides on.' }),
    unmatched: z.int(),
    refs: z.array(checkedRefSchema),
    leftOut: z
      .object({ branches: z.int(), tags: z.int(), pullRequests: z.int() })
      .meta({ description: 'Number of refs that were not checked, because there are too many.' }),
  })
  .meta({ id: 'RulesCheck' });
export type RulesCheckView = z.infer<typeof rulesCheckViewSchema>;

const nothingListed: Omit<RefSnapshot, 'at'> = {
  branches: [],
  tags: [],
  pullRequests: [],
  leftOut: { branches: 0, tags: 0, pullRequests: 0 },
};

/** Longest reason of one ref, in characters: up to 20 rules can each have one, and there are thousands of refs. */
const maxWhy = 300;
/** Number of refs that are checked before other requests are served. */
const atOnce = 50;

/** Returns what rules, by default those of the repository, decide for each ref of the last list. Changes nothing. */
export async function checkRules(
  { rules, newestTags }: Partial<RulesCheck>,
  repository: Repository,
  snapshot: RefSnapshot | undefined,
  environments: readonly Environment[],
): Promise<RulesCheckView> {
  const { sync } = repository.spec;
  const checked: readonly SyncRule[] | undefined = rules ?? sync?.rules;
  const decisions = new RuleDecisions(checked);
  const explain = (ref: RefFacts) => {
    const why = decisions.explain(ref);
    return why.length > maxWhy ? `${why.slice(0, maxWhy).toWellFormed()}…` : why;
  };
  const { group } = idOf(repository);
  const held = new Map(
    environments.map(({ metadata, spec }) => [gitRefKey(spec.gitRef), formatId({ group, name: metadata.name })]),
  );
  const maxTags = newestTags ?? sync?.newestTags ?? DEFAULT_NEWEST_TAGS;
  let wantedTags = 0;
  const { leftOut, ...listed } = snapshot ?? nothingListed;
  const refs: RulesCheckView['refs'] = [];
  for (const [index, ref] of factsOf(listed).entries()) {
    if (index % atOnce === atOnce - 1) await otherRequests();
    const { rule, environment, sleep } = decisions.decide(ref);
    if (ref.type === 'tag' && environment !== 'none') wantedTags += 1;
    const isTooOld = ref.type === 'tag' && environment !== 'none' && wantedTags > maxTags;
    const id = held.get(gitRefKey(ref));
    const isCreated = environment !== 'none' && !isTooOld;
    refs.push({
      type: ref.type,
      name: ref.name,
      ...(rule !== undefined && { rule: rule + 1 }),
      environment: isTooOld ? 'none' : environment,
      ...(isCreated && sleep?.afterSeconds !== undefined && { sleepAfterSeconds: sleep.afterSeconds }),
      why: isTooOld ? `${explain(ref)}; not one of the ${maxTags} newest tags` : explain(ref),
      ...(id !== undefined && { id }),
    });
  }
  return {
    ...(snapshot && { listedAt: snapshot.at }),
    matched: (checked ?? []).map((_rule, index) => refs.filter(({ rule }) => rule === index + 1).length),
    unmatched: refs.filter(({ rule }) => rule === undefined).length,
    refs,
    leftOut,
  };
}

function factsOf({
  branches,
  tags,
  pullRequests,
}: Pick<RefSnapshot, 'branches' | 'tags' | 'pullRequests'>): RefFacts[] {
  return [
    ...branches.map((name): RefFacts => ({ type: 'branch', name })),
    ...pullRequests.map(({ number, ...facts }): RefFacts => ({ ...facts, type: 'pull request', name: `${number}` })),
    ...tags.map((name): RefFacts => ({ type: 'tag', name })),
  ];
}
