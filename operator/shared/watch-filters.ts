import { isDeepStrictEqual } from 'node:util';
import type { Repository } from '../../crds/repository.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

/** A request to sync a Repository's refs, and what the operator writes, leave it the same version. */
export function isSameRevision({ metadata: now }: Repository, old: Repository | undefined): boolean {
  return now.uid === old?.metadata.uid && now.generation === old?.metadata.generation;
}

/**
 * What the operator itself wrote about an object is not a reason to reconcile it again: backoff must not be bypassed.
 */
export function isStatusOnly({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  if (!old) return false;
  const decisive = ({ uid, generation, deletionTimestamp, annotations, finalizers }: KubernetesObject['metadata']) => [
    ...[uid, generation, deletionTimestamp, annotations, finalizers],
  ];
  return isDeepStrictEqual(decisive(metadata), decisive(old.metadata));
}

/** Whether a namespace's labels and annotations, which say whose it is, are as they were. */
export function isSameOwner({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  const owner = ({ labels, annotations }: KubernetesObject['metadata']) => [labels, annotations];
  return old !== undefined && isDeepStrictEqual(owner(metadata), owner(old.metadata));
}
