import type { Pod } from '../../../kubernetes/resource-type.ts';

type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Terminated = NonNullable<NonNullable<Status['state']>['terminated']>;
type Probe = NonNullable<Pod['spec']>['containers'][number]['startupProbe'];

/** As the exit code of a program that SIGKILL or SIGTERM ended. */
const KILLED = [137, 143];
/** The kubelet writes times in whole seconds. */
const ROUNDING_MS = 1000;

/**
 * Reports whether the kubelet ended a container because its startup probe never succeeded. No status says so, and a program
 * may end by SIGTERM with any exit code, 0 too. But such a container has lived for as long as the probe may fail, and its
 * pod was not ready in all that time.
 */
export function isEndedByCheck(
  { exitCode, reason, startedAt, finishedAt }: Terminated,
  probe: Probe,
  started: boolean | undefined,
  unreadySince: Date | undefined,
): boolean {
  if (!probe || started === true || reason === 'OOMKilled') return false;
  const startedMs = Date.parse(startedAt ?? '');
  const uptimeMs = Date.parse(finishedAt ?? '') - startedMs;
  if (Number.isNaN(uptimeMs) || !unreadySince) return KILLED.includes(exitCode);
  const { failureThreshold = 3, periodSeconds = 10 } = probe;
  const hadTimeMs = (failureThreshold - 1) * periodSeconds * 1000;
  return uptimeMs + ROUNDING_MS >= hadTimeMs && unreadySince.getTime() <= startedMs + ROUNDING_MS;
}
