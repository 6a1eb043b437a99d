import { LABELS } from '../../../crds/labels.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { ContainerStatus } from '../../shared/pod-parts.ts';

/** Longer than most programs run that crash while they start. One that crashes later still counts as ready in between. */
const RECOVERED_AFTER_MS = 10_000;

/**
 * Returns when a pod's service that has crashed will have run long enough to count as ready, in Unix milliseconds:
 * infinite while it does not run, undefined if it has run long enough or has never ended. Without a readiness probe
 * Kubernetes reports a container as ready whenever it runs, also between two crashes, and its Deployment somewhat longer.
 */
export function recoversAt(pod: Pod, now: Date): number | undefined {
  const crashed = crashedService(pod);
  if (!crashed) return undefined;
  const startedAt = crashed.state?.running?.startedAt;
  if (startedAt === undefined) return Number.POSITIVE_INFINITY;
  const leftMs = Date.parse(startedAt) + RECOVERED_AFTER_MS - now.getTime();
  // By the clock of a node that is far ahead, the service would not count as ready for as long.
  return leftMs > 0 && leftMs <= 2 * RECOVERED_AFTER_MS ? now.getTime() + leftMs : undefined;
}

/** Returns when the first pod that recovers will have run long enough; undefined if none does. */
export function firstRecovery(pods: readonly Pod[], now: Date): Date | undefined {
  const times = pods.flatMap((pod) => recoversAt(pod, now) ?? []).filter((time) => Number.isFinite(time));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/**
 * Returns the status of the service's own container, not of those beside it, if it has ended before and has no readiness
 * probe; undefined for a pod that has ended itself, such as an evicted one.
 */
function crashedService(pod: Pod): ContainerStatus | undefined {
  const { spec, status } = pod;
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return undefined;
  const container = spec?.containers.find(({ name }) => isOwnContainer(pod, name));
  if (!container || container.readinessProbe) return undefined;
  const own = status?.containerStatuses?.find(({ name }) => name === container.name);
  // Between the first crash and the first restart, the count is still 0.
  return own && (own.restartCount > 0 || own.state?.terminated) ? own : undefined;
}

/** Returns whether a container of a service's pod is the service's own. */
export function isOwnContainer({ metadata }: Pod, container: string): boolean {
  return metadata.labels?.[LABELS.service] === container;
}
