import type { Pod } from '../../../kubernetes/resource-type.ts';

/**
 * How long a container must run after a restart. The kubelet's shortest back-off, so a container that crashes at once
 * never runs as long (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy).
 */
const SETTLED_AFTER_MS = 10_000;

type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Spec = NonNullable<Pod['spec']>['containers'][number];

/**
 * Returns when the first of the pods' restarted containers will have run long enough to count as ready; undefined if all
 * have. Without a readiness probe Kubernetes reports a container as ready whenever it runs, also between two
 * crashes.
 */
export function settlesAt(pods: readonly Pod[], now: Date): Date | undefined {
  const times = pods.flatMap(({ spec, status }) =>
    (status?.containerStatuses ?? []).flatMap((one) => {
      const container = spec?.containers.find(({ name }) => name === one.name);
      return containerSettlesAt(one, container, now) ?? [];
    }),
  );
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** As settlesAt, for one container, in Unix milliseconds. */
export function containerSettlesAt(status: Status, spec: Spec | undefined, now: Date): number | undefined {
  const startedAt = status.state?.running?.startedAt;
  if (status.restartCount === 0 || startedAt === undefined || spec?.readinessProbe) return undefined;
  const at = Date.parse(startedAt) + SETTLED_AFTER_MS;
  return at > now.getTime() ? at : undefined;
}
