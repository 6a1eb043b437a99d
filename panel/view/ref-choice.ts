import type { EnvironmentItem } from '../api/items.ts';

type GitRef = EnvironmentItem['gitRef'];

/** Returns one environment of each ref, in the given order; one with contents if there is one. */
export function refsOf(items: readonly EnvironmentItem[]): EnvironmentItem[] {
  const byRef = new Map<string, EnvironmentItem>();
  for (const item of items) {
    const key = `${item.gitRef.type} ${item.gitRef.name}`;
    const known = byRef.get(key);
    if (!known || (known.status === 'empty' && item.status !== 'empty')) byRef.set(key, item);
  }
  return [...byRef.values()];
}

/** Returns the type of a typed ref if exactly one known ref has this name; otherwise undefined. */
export function typeOfName(items: readonly EnvironmentItem[], typed: string): GitRef['type'] | undefined {
  const name = bareName(typed);
  const types = new Set(items.filter(({ gitRef }) => gitRef.name === name).map(({ gitRef }) => gitRef.type));
  return types.size === 1 ? [...types][0] : undefined;
}

/** Returns the name as the API expects it: `12` for `#12`, `main` for `refs/heads/main`. */
export function bareName(typed: string): string {
  return typed.trim().replace(/^#(?=\d+$)|^refs\/(?:heads|tags)\//, '');
}
