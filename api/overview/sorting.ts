import { HEALTHS } from '../http/health-view.ts';
import type { EnvironmentSummary } from './environment-summary.ts';

export const SORTS = ['health', 'name', '-name', 'created', '-created', 'built', '-built'] as const;
export type Sort = (typeof SORTS)[number];

/** A position in a sorted list; ends with the id, so that no two are equal. */
export type SortKey = readonly (string | number)[];

const keys: Record<'health' | 'name' | 'created' | 'built', (summary: EnvironmentSummary) => SortKey> = {
  // The least healthy first, and among equals the one with the newest build.
  health: ({ health, builtAt, id }) => [HEALTHS.indexOf(health), -builtAt, id],
  name: ({ ref, id }) => [ref, id],
  created: ({ createdAt, id }) => [createdAt, id],
  built: ({ builtAt, id }) => [builtAt, id],
};

export function sortKey(sort: Sort, summary: EnvironmentSummary): SortKey {
  switch (sort) {
    case 'health':
      return keys.health(summary);
    case 'name':
    case '-name':
      return keys.name(summary);
    case 'created':
    case '-created':
      return keys.created(summary);
    case 'built':
    case '-built':
      return keys.built(summary);
  }
}

/** Compares two keys of the same sort. */
export function compareKeys(sort: Sort, a: SortKey, b: SortKey): number {
  const order = ascending(a, b);
  return sort.startsWith('-') ? -order : order;
}

function ascending(a: SortKey, b: SortKey): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined || one === other) continue;
    return one < other ? -1 : 1;
  }
  return 0;
}

/** Returns the first `count` items in order: for a page, sorting all of them would cost more. */
export function firstOf<T>(items: Iterable<T>, count: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const item of items) {
    const last = first.at(-1);
    if (first.length === count && last !== undefined && compare(item, last) >= 0) continue;
    first.splice(positionOf(first, item, compare), 0, item);
    if (first.length > count) first.pop();
  }
  return first;
}

/** Returns where an item belongs in a sorted list. */
function positionOf<T>(sorted: readonly T[], item: T, compare: (a: T, b: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = sorted[middle];
    if (there !== undefined && compare(there, item) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
