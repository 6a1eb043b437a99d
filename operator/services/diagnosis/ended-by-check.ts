import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { Terminated } from '../../shared/pod-parts.ts';

type Probe = NonNullable<Pod['spec']>['containers'][number]['startupProbe'];

/** Exit codes of a program that SIGKILL or SIGTERM ended. */
const killed = [137, 143];
/** The kubelet rounds times to seconds. */
const roundingMs = 1000;

/**
 * Returns whether the kubelet stopped a container because its startup probe never succeeded. No status reports this,
 * and a program can exit with any code on SIGTERM, including 0. But such a container ran exactly as long as the probe
 * may fail, and its pod was never ready in that time.
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
  if (Number.isNaN(uptimeMs) || !unreadySince) return killed.includes(exitCode);
  const { failureThreshold = 3, periodSeconds = 10 } = probe;
  const hadTimeMs = (failureThreshold - 1) * periodSeconds * 1000;
  return uptimeMs + roundingMs >= hadTimeMs && unreadySince.getTime() <= startedMs + roundingMs;
}
