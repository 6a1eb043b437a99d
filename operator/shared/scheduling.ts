import type { Pod } from '../../kubernetes/resource-type.ts';

type PodSpec = NonNullable<Pod['spec']>;

/** Where pods run, as an administrator decides it for one kind of them: fields of a pod as Kubernetes has them. */
export type Scheduling = Pick<
  PodSpec,
  'nodeSelector' | 'tolerations' | 'affinity' | 'priorityClassName' | 'runtimeClassName'
>;

type Affinity = NonNullable<PodSpec['affinity']>;
type PodAffinityTerms = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>;

/** The administrator's scheduling, with what a pod itself must have beside: the administrator's labels of nodes count. */
export function scheduled(
  scheduling: Scheduling | undefined,
  own: { nodeSelector?: Record<string, string> | undefined; podAffinity?: PodAffinityTerms } = {},
): Scheduling {
  const { nodeSelector, affinity, ...others } = scheduling ?? {};
  const labels = { ...own.nodeSelector, ...nodeSelector };
  const terms = own.podAffinity ?? [];
  const { podAffinity, ...otherAffinity } = affinity ?? {};
  const required = [...(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...terms];
  const merged: Affinity = {
    ...otherAffinity,
    ...((podAffinity !== undefined || required.length > 0) && {
      podAffinity: {
        ...podAffinity,
        ...(required.length > 0 && { requiredDuringSchedulingIgnoredDuringExecution: required }),
      },
    }),
  };
  return {
    ...others,
    ...(Object.keys(labels).length > 0 && { nodeSelector: labels }),
    ...(Object.keys(merged).length > 0 && { affinity: merged }),
  };
}

/** The labels of nodes of a platform such as `linux/arm64`. */
export function platformLabels(platform: string | undefined): Record<string, string> {
  const [os, architecture] = platform?.split('/') ?? [];
  return {
    ...(os !== undefined && { 'kubernetes.io/os': os }),
    ...(architecture !== undefined && { 'kubernetes.io/arch': architecture }),
  };
}

interface PlatformSettings {
  environments: { platform?: string | undefined; scheduling: Scheduling };
  builder: { scheduling: Scheduling };
}

/**
 * The platform of services that name none: the configured one, or that of the nodes that environments or builders are
 * kept to. Undefined where all nodes are of one architecture, or nobody said which.
 */
export function defaultPlatform({ environments, builder }: PlatformSettings): string | undefined {
  const architectures = [environments, builder].map(
    ({ scheduling }) => scheduling.nodeSelector?.['kubernetes.io/arch'],
  );
  const [architecture] = architectures.filter((one) => one !== undefined);
  return environments.platform ?? (architecture === undefined ? undefined : `linux/${architecture}`);
}
