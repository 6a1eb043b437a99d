import type { KubernetesObject, OwnerReference } from './resource-type.ts';

/** Returns an owner reference, so that an object is deleted with its owner. */
export function ownerReference({ apiVersion, kind, metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name, uid };
}

/** Returns whether the object was created for this owner, not for another one of its name. */
export function isOwnedBy(object: KubernetesObject, { kind, metadata: { uid } }: KubernetesObject): boolean {
  return object.metadata.ownerReferences?.some((owner) => owner.kind === kind && owner.uid === uid) ?? false;
}
