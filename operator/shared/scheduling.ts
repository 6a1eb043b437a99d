import type { Pod } from '../../kubernetes/resource-type.ts';

type PodSpec = NonNullable<Pod['spec']>;

/** Where pods of one kind run, as an administrator configures it, with Kubernetes' own fields. */
export type Scheduling = Pick<
  PodSpec,
  'nodeSelector' | 'tolerations' | 'affinity' | 'priorityClassName' | 'runtimeClassName'
>;

type Affinity = NonNullable<PodSpec['affinity']>;
type PodAffinityTerms = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>;

/** How long pods whose work can be repeated stay on a node that does not respond, in seconds; others stay 300. */
const unreachableSeconds = 30;

/** Tolerations of pods whose work can be repeated elsewhere. */
export const LEAVES_SOON: NonNullable<PodSpec['tolerations']> = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: unreachableSeconds,
}));

/**
 * Returns the administrator's scheduling combined with what the pod itself requires. The administrator's node labels
 * and tolerations take precedence.
 */
export function scheduled(
  scheduling: Scheduling | undefined,
  own: {
    nodeSelector?: Record<string, string> | undefined;
    podAffinity?: PodAffinityTerms;
    tolerations?: NonNullable<PodSpec['tolerations']>;
  } = {},
): Scheduling {
  const { nodeSelector, affinity, tolerations: given = [], ...others } = scheduling ?? {};
  const isGiven = (key?: string) => given.some((one) => one.key === undefined || one.key === key);
  const tolerations = [...given, ...(own.tolerations ?? []).filter(({ key }) => !isGiven(key))];
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
    ...(tolerations.length > 0 && { tolerations }),
    ...(Object.keys(labels).length > 0 && { nodeSelector: labels }),
    ...(Object.keys(merged).length > 0 && { affinity: merged }),
  };
}

/** Returns the node labels of a platform such as `linux/arm64`. */
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
 * Returns the platform of services that name none: the configured one, or that of the nodes for environments or
 * builders. Undefined if it is unknown or all nodes have one architecture.
 */
export function defaultPlatform({ environments, builder }: PlatformSettings): string | undefined {
  const architectures = [environments, builder].map(
    ({ scheduling }) => scheduling.nodeSelector?.['kubernetes.io/arch'],
  );
  const [architecture] = architectures.filter((one) => one !== undefined);
  return environments.platform ?? (architecture === undefined ? undefined : `linux/${architecture}`);
}
