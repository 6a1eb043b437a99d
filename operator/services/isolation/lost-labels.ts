import type { Namespace } from '../../../kubernetes/resource-type.ts';

export const POD_SECURITY = 'pod-security.kubernetes.io/';
const enforce = `${POD_SECURITY}enforce`;
/** An older version of a Pod Security level can permit more than the current one. */
const enforceVersion = `${POD_SECURITY}enforce-version`;

/** From the least to the most strict; a missing or unknown label enforces nothing. */
const levels: readonly (string | undefined)[] = ['privileged', 'baseline', 'restricted'];

/**
 * Returns the patch that restores a namespace's labels; undefined if they are as wanted. Stricter Pod Security than
 * wanted is kept.
 */
export function lostLabels(wanted: Namespace, live: Namespace): Record<string, string | null> | undefined {
  const { labels: held = {} } = live.metadata;
  const lost: [string, string | null][] = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => held[key] !== value && !(key === enforce && isStricter(held[key], value)),
  );
  if ((held[enforceVersion] ?? 'latest') !== 'latest') lost.push([enforceVersion, null]);
  return lost.length > 0 ? Object.fromEntries(lost) : undefined;
}

function isStricter(level: string | undefined, than: string): boolean {
  return levels.indexOf(level) > levels.indexOf(than);
}
