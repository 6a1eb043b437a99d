import type { Counts, EnvironmentItem, Health, Status } from '../api/items.ts';

/** Returns the items with newer versions in place of older ones, in the same order; the same array if nothing changes. */
export function mergeItem<Item extends { id: string; version: number }>(
  items: readonly Item[],
  item: Item,
): readonly Item[] {
  const index = items.findIndex(({ id }) => id === item.id);
  const known = items[index];
  if (!known || known.version >= item.version) return items;
  return items.with(index, item);
}

/** Returns the items without a deleted one. */
export function withoutItem<Item extends { id: string }>(items: readonly Item[], id: string): readonly Item[] {
  return items.some((item) => item.id === id) ? items.filter((item) => item.id !== id) : items;
}

const urgency: Record<Health, number> = { failed: 0, degraded: 1, progressing: 2, healthy: 3, inactive: 4 };

/** Compares environments: those that need attention first, then the most recently built. */
export function byUrgency(a: EnvironmentItem, b: EnvironmentItem): number {
  return urgency[a.health] - urgency[b.health] || b.builtAt - a.builtAt || (a.id < b.id ? -1 : 1);
}

/** Returns whether somebody must act: something has failed, or waits for an approval. */
export function needsAttention({ health, problem }: Pick<EnvironmentItem, 'health' | 'problem'>): boolean {
  return health === 'failed' || health === 'degraded' || problem?.reason === 'WaitingForApproval';
}

/** Returns the number of environments of a health or status, or of those that sleep. */
export function countOf({ status, health, asleep }: Counts, key: Health | Status | 'asleep'): number {
  const all: Partial<Record<Health | Status | 'asleep', number>> = { ...status, ...health, asleep };
  return all[key] ?? 0;
}
