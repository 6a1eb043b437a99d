import type { Pod } from '../../kubernetes/resource-type.ts';

/**
 * Of every pod that is made here: nothing in it can call the API server, or is reported what Services there are beside
 * it.
 */
export const withoutToken = { automountServiceAccountToken: false, enableServiceLinks: false } as const;

/** Of a pod of Coppice's own that does one thing, and is not tried again by the kubelet. */
export const runsOnce = { ...withoutToken, restartPolicy: 'Never' } as const;

/** The security context of a pod that reads files of whatever owner; its containers are confined(). */
export const asRoot = { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } } as const;

/** The security context of a container of Coppice's own: it writes to its mounts alone and has no right beside these. */
export function confined(...capabilities: string[]) {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(capabilities.length > 0 && { add: capabilities }) },
  };
}

/** Whether the kubelet ended the pod because its own volumes or files grew beyond their limits; the node had room. */
export function usedTooMuchDisk(status: Pod['status']): boolean {
  const words = /exceeds the (total )?limit|exceeded its local ephemeral storage limit|EmptyDir/i;
  return status?.reason === 'Evicted' && words.test(status.message ?? '');
}
