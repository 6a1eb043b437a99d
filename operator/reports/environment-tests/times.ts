import type { TestsStatus } from '../../../crds/environment-tests.ts';

/**
 * Between a build that became ready and its tests: an Ingress controller learns of new pods a little after Kubernetes
 * calls them ready (Traefik: 2 s), and a fault that is none must not stand on a commit.
 */
const settleMs = 5000;
/** A run has its deadline at the tester; this is for a tester that does not come back, or whose queue does not end. */
const maxMs = 60 * 60_000;
const minGapMs = 2000;
const maxGapMs = 15_000;

export const overdueWords = `not finished after ${maxMs / 60_000} minutes. Run the tests again`;

/** @param finishedAt of the build, RFC 3339 */
export function leftToSettleMs(finishedAt: string | undefined, now: Date): number {
  const at = Date.parse(finishedAt ?? '');
  return Number.isNaN(at) ? 0 : Math.max(0, at + settleMs - now.getTime());
}

/** A fifth of the time that the tests took so far: what takes long is asked for rarely. */
export function requeueAfterMs({ since }: Pick<TestsStatus, 'since'>, now: Date, isFailing: boolean): number {
  if (isFailing) return maxGapMs;
  const sofarMs = now.getTime() - Date.parse(since);
  return Math.min(Math.max(sofarMs / 5, minGapMs), maxGapMs);
}

export function isOverdue({ since }: Pick<TestsStatus, 'since'>, now: Date): boolean {
  return now.getTime() - Date.parse(since) > maxMs;
}
