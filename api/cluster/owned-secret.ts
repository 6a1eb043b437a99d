import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { isAlreadyExists, isNotFound } from '../../kubernetes/api-error.ts';
import { ownerReference } from '../../kubernetes/owner.ts';
import { Secret, type KubernetesObject, type ObjectName } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import type { ClusterWriter } from './caches.ts';

/** A text in a Secret: `secretKeyRef` of a variable, or of a service file. */
export interface TextReference {
  name: string;
  key: string;
}

/** Returns a key that says how many bytes its text has: `STEM.SUFFIX.BYTES`. */
export function textKey(stem: string, suffix: string, text: string): string {
  return `${stem}.${suffix}.${Buffer.byteLength(text)}`;
}

/** Returns the number of bytes of a text according to its key; 0 for a key that somebody else chose. */
export function storedBytes({ key }: TextReference): number {
  return Number(/\.[a-z0-9]+\.(\d{1,7})$/.exec(key)?.[1] ?? 0);
}

/** Adds a text to a Secret that belongs to the owner; creates the Secret if it is missing. */
export async function addText(
  cluster: Pick<ClusterWriter, 'create' | 'patch'>,
  owner: KubernetesObject,
  at: ObjectName,
  key: string,
  text: string,
): Promise<void> {
  const data = encodeTexts({ [key]: text });
  const patch = () => cluster.patch(Secret, at, { data });
  try {
    await patch();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const labels = { [LABELS.managedBy]: MANAGED_BY };
    const metadata = { ...at, labels, ownerReferences: [ownerReference(owner)] };
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
    try {
      await cluster.create(Secret, secret);
    } catch (refusal) {
      if (!isAlreadyExists(refusal)) throw refusal;
      await patch();
    }
  }
}

/** Removes a text from a Secret, which may be gone. */
export async function removeText(cluster: Pick<ClusterWriter, 'patch'>, at: ObjectName, key: string): Promise<void> {
  try {
    await cluster.patch(Secret, at, { data: { [key]: null } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
