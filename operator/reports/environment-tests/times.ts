import type { TestsStatus } from '../../../crds/environment-tests.ts';

/**
 * Delay between a build that became ready and its tests, in milliseconds: Ingress controllers notice ready pods with a
 * delay (Traefik: 2 s), and tests must not fail because of it.
 */
const settleMs = 5000;
/** Runs have a deadline at the tester; this one is for a tester that does not respond, or whose queue is stuck. */
const maxMs = 60 * 60_000;
const minGapMs = 2000;
const maxGapMs = 15_000;

export const OVERDUE_WORDS = `not finished after ${maxMs / 60_000} minutes. Run the tests again`;

/** Returns the rest of the delay in milliseconds. @param since end of the build, and when it was woken, RFC 3339 */
export function leftToSettleMs(since: readonly (string | undefined)[], now: Date): number {
  const times = since.flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
  return times.length === 0 ? 0 : Math.max(0, Math.max(...times) + settleMs - now.getTime());
}

/** Returns one fifth of the time that the tests have taken so far, so that long tests are polled rarely. */
export function requeueAfterMs({ since }: Pick<TestsStatus, 'since'>, now: Date, isFailing: boolean): number {
  if (isFailing) return maxGapMs;
  const sofarMs = now.getTime() - Date.parse(since);
  return Math.min(Math.max(sofarMs / 5, minGapMs), maxGapMs);
}

export function isOverdue({ since }: Pick<TestsStatus, 'since'>, now: Date): boolean {
  return now.getTime() - Date.parse(since) > maxMs;
}
