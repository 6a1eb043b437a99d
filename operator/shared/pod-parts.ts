import type { Pod } from '../../kubernetes/resource-type.ts';

export type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
/** How a container ended. */
export type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

/** Fields of every pod that Coppice creates: no API token, and no environment variables for Services. */
export const WITHOUT_TOKEN = { automountServiceAccountToken: false, enableServiceLinks: false } as const;

/** Fields of Coppice's own pods that do one thing and are not restarted by the kubelet. */
export const RUNS_ONCE = { ...WITHOUT_TOKEN, restartPolicy: 'Never' } as const;

/** Security context of a pod that reads files of any owner; its containers are confined(). */
export const AS_ROOT = { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } } as const;

/**
 * Returns the security context of Coppice's own containers: read-only root file system, and only the given
 * capabilities.
 */
export function confined(...capabilities: string[]) {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(capabilities.length > 0 && { add: capabilities }) },
  };
}

/**
 * Returns whether the kubelet evicted the pod because its own volumes or files exceeded their limits, not because the
 * node's disk is full.
 */
export function usedTooMuchDisk(status: Pod['status']): boolean {
  const words = /exceeds the (total )?limit|exceeded its local ephemeral storage limit|EmptyDir/i;
  return status?.reason === 'Evicted' && words.test(status.message ?? '');
}
