import { LABELS } from '../../../crds/labels.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';

/** Longer than most programs run that crash while they start. One that crashes later still counts as ready in between. */
const RECOVERED_AFTER_MS = 10_000;

type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/**
 * Returns when a pod's restarted service will have run long enough to count as ready, in Unix milliseconds: infinite
 * while it does not run, undefined if it has run long enough or was never restarted. Without a readiness probe Kubernetes
 * reports a container as ready whenever it runs, also between two crashes, and its Deployment somewhat longer.
 */
export function recoversAt(pod: Pod, now: Date): number | undefined {
  const restarted = restartedService(pod);
  if (!restarted) return undefined;
  const startedAt = restarted.state?.running?.startedAt;
  if (startedAt === undefined) return Number.POSITIVE_INFINITY;
  const at = Date.parse(startedAt) + RECOVERED_AFTER_MS;
  return at > now.getTime() ? at : undefined;
}

/** Returns when the first pod that recovers will have run long enough; undefined if none does. */
export function firstRecovery(pods: readonly Pod[], now: Date): Date | undefined {
  const times = pods.flatMap((pod) => recoversAt(pod, now) ?? []).filter((time) => Number.isFinite(time));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/**
 * Returns the status of the service's own container, not of those beside it, if it was restarted and has no readiness
 * probe; undefined for a pod that has ended, such as an evicted one.
 */
function restartedService(pod: Pod): Status | undefined {
  const { spec, status } = pod;
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return undefined;
  const container = spec?.containers.find(({ name }) => isOwnContainer(pod, name));
  if (!container || container.readinessProbe) return undefined;
  return status?.containerStatuses?.find(({ name, restartCount }) => name === container.name && restartCount > 0);
}

/** Returns whether a container of a service's pod is the service's own. */
export function isOwnContainer({ metadata }: Pod, container: string): boolean {
  return metadata.labels?.[LABELS.service] === container;
}
