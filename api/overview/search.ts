import { z } from 'zod';
import type { Viewer } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { listedEnvironment, listedEnvironmentSchema } from '../environments/listed-environment.ts';
import { listedGroup, listedGroupSchema } from '../groups/listed-group.ts';
import { listedRepository, listedRepositorySchema } from '../repositories/listed-repository.ts';
import { summaryOf } from './environment-summary.ts';
import { firstOf } from './sorting.ts';

export const searchSchema = z
  .object({
    results: z.array(
      z.union([
        z.object({ kind: z.literal('group'), item: listedGroupSchema }),
        z.object({ kind: z.literal('repository'), item: listedRepositorySchema }),
        z.object({ kind: z.literal('environment'), item: listedEnvironmentSchema }),
      ]),
    ),
    truncated: z.literal(true).optional().meta({ description: 'There are more results.' }),
  })
  .meta({ id: 'SearchResults' });
export type SearchResults = z.infer<typeof searchSchema>;

interface Hit {
  /** Lower is better: a whole name, the start of a word, or a part of one; then groups before what they contain. */
  rank: number;
  id: string;
  show: () => SearchResults['results'][number];
}

/** Finds groups, repositories and environments that the caller sees, by name, id, ref or commit; the best first. */
export function search(directory: Directory, viewer: Viewer, text: string, limit: number): SearchResults {
  const part = text.toLowerCase().replaceAll('\n', ' ');
  const hits: Hit[] = [];
  const add = (words: string, order: number, id: string, show: Hit['show']) => {
    const rank = rankOf(words, part);
    if (rank !== undefined) hits.push({ rank: 3 * rank + order, id, show });
  };
  for (const group of directory.groups(viewer)) {
    const { name } = group.metadata;
    add(words(group.spec.displayName, name), 0, name, () => ({ kind: 'group', item: listedGroup(group) }));
  }
  for (const { group, repository } of directory.repositoryTargets(viewer)) {
    const id = `${group.metadata.name}.${repository.metadata.name}`;
    const show = () => ({ kind: 'repository' as const, item: listedRepository(repository) });
    add(words(repository.spec.displayName, repository.metadata.name, id), 1, id, show);
    for (const environment of directory.environments(repository)) {
      const summary = summaryOf(environment);
      add(summary.text, 2, summary.id, () => ({ kind: 'environment', item: listedEnvironment(environment) }));
    }
  }
  const best = firstOf(hits, limit, (a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  return { results: best.map(({ show }) => show()), ...(hits.length > limit && { truncated: true as const }) };
}

function words(...names: readonly (string | undefined)[]): string {
  return names
    .flatMap((name) => name ?? [])
    .join('\n')
    .toLowerCase();
}

/** Returns 0 for a whole word of these lines, 1 for the start of one, 2 for another part; undefined if none matches. */
function rankOf(lines: string, part: string): number | undefined {
  if (!lines.includes(part)) return undefined;
  const bounded = `\n${lines}\n`;
  if (bounded.includes(`\n${part}\n`)) return 0;
  return bounded.includes(`\n${part}`) ? 1 : 2;
}
