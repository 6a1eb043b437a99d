import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import type { FreshCaches } from '../cluster/caches.ts';
import { parsePosition } from '../events/position.ts';
import { endpoint, nothing, type Endpoint } from '../http/endpoint.ts';
import { integerField } from '../http/parse.ts';
import { Unavailable } from '../shared/errors.ts';
import { afterField, environmentPage, environmentPageSchema, pageQuery } from './environment-list.ts';
import { overview, overviewSchema } from './overview.ts';
import { search, searchSchema } from './search.ts';

export interface OverviewRoutesOptions {
  directory: Directory;
  caches: FreshCaches;
}

/** Replicas read changes within milliseconds of each other. */
const maxLagMs = 1000;

const maxIncluded = 50;
const overviewQuery = z.object({
  limit: integerField(1, 200).default(50),
  include: z
    .string()
    .max(10_000)
    .default('')
    .transform((text) => new Set(text === '' ? [] : text.split(',')))
    .refine(({ size }) => size <= maxIncluded, { error: `must have ${maxIncluded} ids at most` })
    .meta({
      description: 'Ids of environments to return beyond the limit, separated by commas. Unknown ones are ignored.',
    }),
  after: afterField,
});
const searchQuery = z.object({
  text: z.string().trim().min(1).max(100).meta({ description: 'Part of a name, id or ref, or of a commit.' }),
  limit: integerField(1, 50).default(20),
});

/** Routes (extensions) for pages that show many objects. */
export function overviewRoutes({ directory, caches }: OverviewRoutesOptions): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/repository/{repoID}/environments',
      summary: 'Lists the environments of a repository: a page, filtered and sorted (extension)',
      find: (caller: Caller, { repoID }) => directory.repository(caller, repoID),
      writes: false,
      query: pageQuery,
      answer: environmentPageSchema,
      run: async ({ target, query }) => {
        await requireCaughtUp(caches, query.after);
        return environmentPage(directory.environments(target.repository), query);
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/overview',
      summary:
        'Returns the groups, repositories and environments that the caller sees, the least healthy first (extension)',
      find: nothing,
      writes: false,
      query: overviewQuery,
      answer: overviewSchema,
      run: async ({ caller, query: { limit, include, after } }) => {
        await requireCaughtUp(caches, after);
        return overview(directory, caller, { limit, include });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/search',
      summary: 'Searches groups, repositories, refs and environments that the caller sees (extension)',
      find: nothing,
      writes: false,
      query: searchQuery,
      answer: searchSchema,
      run: ({ caller, query: { text, limit } }) => search(directory, caller, text, limit),
    }),
  ];
}

/**
 * Waits until this replica has read what another one has sent to the caller.
 * @throws Unavailable if it has not in time
 */
async function requireCaughtUp(
  { groups, repositories, environments }: FreshCaches,
  after: string | undefined,
): Promise<void> {
  const newest = after === undefined ? undefined : parsePosition(after)?.newest;
  if (!newest) return;
  const seen = await Promise.all([
    groups.seenWithin(newest.group, maxLagMs),
    repositories.seenWithin(newest.repository, maxLagMs),
    environments.seenWithin(newest.environment, maxLagMs),
  ]);
  if (seen.includes(false)) {
    throw new Unavailable('this replica has not read these changes yet. Try again', { retryAfterSeconds: 1 });
  }
}
