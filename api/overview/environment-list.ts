import { z } from 'zod';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import { GIT_REF_TYPES, type GitRef } from '../../crds/git-ref.ts';
import { listedEnvironment, listedEnvironmentSchema } from '../environments/listed-environment.ts';
import { HEALTHS } from '../http/health-view.ts';
import { booleanField, integerField } from '../http/parse.ts';
import { cursorAfter, keyOfCursor } from './cursor.ts';
import { type EnvironmentSummary, summaryOf } from './environment-summary.ts';
import { positionField } from '../events/position.ts';
import { compareKeys, firstOf, type SortKey, SORTS, sortKey } from './sorting.ts';

const counts = <Name extends string>(names: readonly Name[]) => z.record(z.enum(names), z.int());

export const countsSchema = z
  .object({ status: counts(ENVIRONMENT_STATES), health: counts(HEALTHS), asleep: z.int() })
  .meta({ id: 'EnvironmentCounts' });
export type EnvironmentCounts = z.infer<typeof countsSchema>;

/** Values separated by commas. */
const anyOf = <Name extends string>(names: readonly Name[]) =>
  z
    .string()
    .max(200)
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(names)))
    .optional()
    .meta({ description: `One or more of ${names.join(', ')}, separated by commas.` });

export const afterField = positionField.optional().meta({
  description: 'The id of an event of GET /api/events: the answer contains at least what had been sent until then.',
});

export const pageQuery = z.object({
  limit: integerField(1, 200).default(50),
  cursor: z.string().max(2000).optional().meta({ description: 'The `next` of the page before.' }),
  text: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'Part of the ref, name or id, or of the commit; case is ignored.' }),
  state: anyOf(ENVIRONMENT_STATES),
  health: anyOf(HEALTHS),
  type: anyOf(GIT_REF_TYPES),
  asleep: booleanField.optional().meta({ description: 'Whether they sleep.' }),
  sort: z.enum(SORTS).default('health'),
  after: afterField,
});
export type PageQuery = z.infer<typeof pageQuery>;

export const environmentPageSchema = z
  .object({
    items: z.array(listedEnvironmentSchema),
    next: z.string().optional().meta({ description: 'The cursor of the next page; absent on the last one.' }),
    total: z.int().meta({ description: 'How many environments match.' }),
    counts: countsSchema.meta({ description: 'Counts all environments of the repository.' }),
  })
  .meta({ id: 'EnvironmentPage' });
export type EnvironmentPage = z.infer<typeof environmentPageSchema>;

interface Keyed {
  environment: Environment;
  key: SortKey;
}

/** Returns a page of these environments. @throws Invalid for a cursor of another list */
export function environmentPage(environments: readonly Environment[], query: PageQuery): EnvironmentPage {
  const { sort, limit, cursor } = query;
  const from = cursor === undefined ? undefined : keyOfCursor(sort, cursor);
  const compare = (a: Keyed, b: Keyed) => compareKeys(sort, a.key, b.key);
  const matches = matcherOf(query);
  const matching: Keyed[] = [];
  for (const environment of environments) {
    const summary = summaryOf(environment);
    if (matches(summary, environment.spec.gitRef)) matching.push({ environment, key: sortKey(sort, summary) });
  }
  const left = from ? matching.filter(({ key }) => compareKeys(sort, key, from) > 0) : matching;
  const page = firstOf(left, limit, compare);
  const last = page.at(-1);
  return {
    items: page.map(({ environment }) => listedEnvironment(environment)),
    ...(last && left.length > page.length && { next: cursorAfter(sort, last.key) }),
    total: matching.length,
    counts: countsOf(environments),
  };
}

function matcherOf({
  text,
  state,
  health,
  type,
  asleep,
}: PageQuery): (summary: EnvironmentSummary, ref: GitRef) => boolean {
  const part = text?.toLowerCase().replaceAll('\n', ' ') ?? '';
  return (summary, ref) =>
    (state === undefined || state.includes(summary.status)) &&
    (health === undefined || health.includes(summary.health)) &&
    (type === undefined || type.includes(ref.type)) &&
    (asleep === undefined || asleep === summary.isAsleep) &&
    summary.text.includes(part);
}

/** Returns how many of the environments have each state and health, and how many sleep. */
export function countsOf(environments: Iterable<Environment>): EnvironmentCounts {
  const made = emptyCounts();
  for (const environment of environments) {
    const { status, health, isAsleep } = summaryOf(environment);
    made.status[status] += 1;
    made.health[health] += 1;
    made.asleep += Number(isAsleep);
  }
  return made;
}

export function emptyCounts(): EnvironmentCounts {
  return {
    status: { empty: 0, created: 0, building: 0, built: 0 },
    health: { failed: 0, degraded: 0, progressing: 0, healthy: 0, inactive: 0 },
    asleep: 0,
  };
}

export function addCounts(sum: EnvironmentCounts, { status, health, asleep }: EnvironmentCounts): void {
  for (const state of ENVIRONMENT_STATES) sum.status[state] += status[state];
  for (const one of HEALTHS) sum.health[one] += health[one];
  sum.asleep += asleep;
}
