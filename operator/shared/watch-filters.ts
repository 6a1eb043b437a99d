import { isDeepStrictEqual } from 'node:util';
import type { Repository } from '../../crds/repository.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

/**
 * Returns whether a Repository's revision is the same: sync requests and the operator's own writes do not change it.
 */
export function isSameRevision({ metadata: now }: Repository, old: Repository | undefined): boolean {
  return now.uid === old?.metadata.uid && now.generation === old?.metadata.generation;
}

/**
 * Returns whether only the status changed. The operator's own writes must not requeue an object, because that would
 * bypass backoff.
 */
export function isStatusOnly({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  if (!old) return false;
  const decisive = ({ uid, generation, deletionTimestamp, annotations, finalizers }: KubernetesObject['metadata']) => [
    ...[uid, generation, deletionTimestamp, annotations, finalizers],
  ];
  return isDeepStrictEqual(decisive(metadata), decisive(old.metadata));
}

/** Returns whether a namespace's labels and annotations, which identify its owner, are unchanged. */
export function isSameOwner({ metadata }: KubernetesObject, old: KubernetesObject | undefined): boolean {
  const owner = ({ labels, annotations }: KubernetesObject['metadata']) => [labels, annotations];
  return old !== undefined && isDeepStrictEqual(owner(metadata), owner(old.metadata));
}
