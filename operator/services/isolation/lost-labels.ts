import type { Namespace } from '../../../kubernetes/resource-type.ts';

export const POD_SECURITY = 'pod-security.kubernetes.io/';
const ENFORCE = `${POD_SECURITY}enforce`;
/** An older version of a level may allow more than it does today. */
const ENFORCE_VERSION = `${POD_SECURITY}enforce-version`;

/** From the loosest to the strictest; a label that is missing or unknown enforces nothing. */
const levels: readonly (string | undefined)[] = ['privileged', 'baseline', 'restricted'];

/**
 * Returns what to patch the labels of a namespace with, so that it has those that it is wanted with; undefined where it
 * has. Pod Security that is stricter than wanted stays.
 */
export function lostLabels(wanted: Namespace, live: Namespace): Record<string, string | null> | undefined {
  const { labels: held = {} } = live.metadata;
  const lost: [string, string | null][] = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => held[key] !== value && !(key === ENFORCE && isStricter(held[key], value)),
  );
  if ((held[ENFORCE_VERSION] ?? 'latest') !== 'latest') lost.push([ENFORCE_VERSION, null]);
  return lost.length > 0 ? Object.fromEntries(lost) : undefined;
}

function isStricter(level: string | undefined, than: string): boolean {
  return levels.indexOf(level) > levels.indexOf(than);
}
