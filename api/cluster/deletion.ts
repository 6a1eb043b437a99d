import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * Returns the object as being deleted if its owner is: the operator deletes what a Group or Repository contains some
 * time after the request, and responses must show the deletion at once.
 */
export function deletedWith<T extends KubernetesObject>(owner: KubernetesObject, object: T): T {
  const { deletionTimestamp } = owner.metadata;
  if (deletionTimestamp === undefined || isBeingDeleted(object)) return object;
  return { ...object, metadata: { ...object.metadata, deletionTimestamp } };
}

/** Returns the objects as deletedWith() does. */
export function allDeletedWith<T extends KubernetesObject>(owner: KubernetesObject, objects: T[]): T[] {
  return isBeingDeleted(owner) ? objects.map((object) => deletedWith(owner, object)) : objects;
}

/** Returns the object as it is once the API server has accepted its deletion. */
export function asDeleted<T extends KubernetesObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: new Date().toISOString() } };
}
