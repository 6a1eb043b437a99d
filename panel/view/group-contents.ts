import type { CountedRepository } from '../api/items.ts';

/** Returns what a group contains: `2 repositories and 14 environments, of which 3 have contents`. */
export function contentsText(repositories: readonly Pick<CountedRepository, 'counts'>[]): string {
  if (repositories.length === 0) return 'no repositories';
  const all = repositories.flatMap(({ counts }) => Object.entries(counts.status));
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  const filled = all.reduce((sum, [status, count]) => (status === 'empty' ? sum : sum + count), 0);
  const named = repositories.length === 1 ? '1 repository' : `${repositories.length} repositories`;
  const environments = total === 1 ? '1 environment' : `${total} environments`;
  if (filled === 0) return `${named} and ${environments}`;
  return `${named} and ${environments}, of which ${filled} ${filled === 1 ? 'has' : 'have'} contents`;
}
