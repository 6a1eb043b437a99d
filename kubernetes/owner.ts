import type { KubernetesObject, OwnerReference } from './resource-type.ts';

/** Makes an object go with its owner. */
export function ownerReference({ apiVersion, kind, metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name, uid };
}

/** Whether the object was made for this very owner, and not for another one of its name. */
export function isOwnedBy(object: KubernetesObject, { kind, metadata: { uid } }: KubernetesObject): boolean {
  return object.metadata.ownerReferences?.some((owner) => owner.kind === kind && owner.uid === uid) ?? false;
}
