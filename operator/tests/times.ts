import type { TestsStatus } from '../../crds/environment-tests.ts';

/**
 * Between a build that came up and its tests: an Ingress controller learns of new pods a little after Kubernetes calls
 * them ready (Traefik: 2 s), and a fault that is none must not stand on a commit.
 */
const settleMs = 5000;
/** A run has its deadline at the tester; this is for a tester that does not come back, or whose queue does not end. */
const mostMs = 60 * 60_000;
const shortestGapMs = 2000;
const longestGapMs = 15_000;

export const overdueWords = `not over after ${mostMs / 60_000} minutes: ask for the tests again`;

/** @param finishedAt of the build, RFC 3339 */
export function leftToSettleMs(finishedAt: string | undefined, now: Date): number {
  const at = Date.parse(finishedAt ?? '');
  return Number.isNaN(at) ? 0 : Math.max(0, at + settleMs - now.getTime());
}

/** A fifth of the time that the tests took so far: what takes long is asked for rarely. */
export function nextLookMs({ since }: Pick<TestsStatus, 'since'>, now: Date, isTroubled: boolean): number {
  if (isTroubled) return longestGapMs;
  const sofarMs = now.getTime() - Date.parse(since);
  return Math.min(Math.max(sofarMs / 5, shortestGapMs), longestGapMs);
}

export function isOverdue({ since }: Pick<TestsStatus, 'since'>, now: Date): boolean {
  return now.getTime() - Date.parse(since) > mostMs;
}
