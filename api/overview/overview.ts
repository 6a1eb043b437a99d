import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import type { Viewer } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { listedEnvironment, listedEnvironmentSchema } from '../environments/listed-environment.ts';
import { listedGroup, listedGroupSchema } from '../groups/listed-group.ts';
import { listedRepository, listedRepositorySchema } from '../repositories/listed-repository.ts';
import { addCounts, countsOf, countsSchema, emptyCounts } from './environment-list.ts';
import { summaryOf } from './environment-summary.ts';
import { compareKeys, firstOf, sortKey } from './sorting.ts';

/** More than a page can show; an account can create 200. */
const maxRepositories = 500;

export const overviewSchema = z
  .object({
    groups: z.array(listedGroupSchema),
    repositories: z.array(listedRepositorySchema.extend({ counts: countsSchema })),
    environments: z.array(listedEnvironmentSchema).meta({
      description:
        'The least healthy first, then those with the newest builds; after them, the others that `include` names.',
    }),
    counts: countsSchema.meta({ description: 'Counts all environments of these repositories.' }),
    truncated: z
      .literal(true)
      .optional()
      .meta({ description: `More than ${maxRepositories} repositories are visible; the others are left out.` }),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof overviewSchema>;

/**
 * Returns what a caller sees: groups, repositories with counts, and the environments to look at first.
 * @param include IDs of further environments
 */
export function overview(
  directory: Directory,
  viewer: Viewer,
  { limit, include }: { limit: number; include: ReadonlySet<string> },
): Overview {
  const targets = directory.repositoryTargets(viewer);
  const counts = emptyCounts();
  const all: Environment[] = [];
  const repositories = targets.slice(0, maxRepositories).map(({ repository }) => {
    const environments = directory.environments(repository);
    const own = countsOf(environments);
    addCounts(counts, own);
    for (const environment of environments) all.push(environment);
    return { ...listedRepository(repository), counts: own };
  });
  const keyed = all.map((environment) => ({ environment, key: sortKey('health', summaryOf(environment)) }));
  const first = firstOf(keyed, limit, (a, b) => compareKeys('health', a.key, b.key)).map(
    ({ environment }) => environment,
  );
  const isIncluded = (environment: Environment) =>
    include.has(summaryOf(environment).id) && !first.includes(environment);
  const others = include.size > 0 ? all.filter(isIncluded) : [];
  return {
    groups: directory.groups(viewer).map(listedGroup),
    repositories,
    environments: [...first, ...others].map(listedEnvironment),
    counts,
    ...(targets.length > maxRepositories && { truncated: true as const }),
  };
}
