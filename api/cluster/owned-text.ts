import { isUnavailable } from '../../kubernetes/api-error.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { Secret, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { ClusterWriter } from './caches.ts';
import { addText, removeText, textKey, type TextReference } from './owned-secret.ts';
import { randomSuffix } from './random-suffix.ts';

/** Where an object has one of its texts. */
export interface TextSource {
  secretKeyRef: TextReference;
}

/** Returns a text of the owner; empty if the referenced Secret does not belong to it. */
export async function readOwnedText(
  cluster: Pick<ClusterWriter, 'find'>,
  owner: KubernetesObject,
  { secretKeyRef }: TextSource,
): Promise<string> {
  const secret = await cluster.find(Secret, { namespace: owner.metadata.namespace, name: secretKeyRef.name });
  // Without this check, users who can write the owner but not read Secrets could read any Secret.
  return (secret && isOwnedBy(secret, owner) ? secretText(secret, secretKeyRef.key) : undefined) ?? '';
}

export interface ReplaceTextOptions<T extends KubernetesObject> {
  cluster: ClusterWriter;
  randomBytes: RandomBytes;
  owner: T;
  /** Start of the Secret's name, such as `service-file`. */
  stem: string;
  sourceOf: (owner: T) => TextSource | undefined;
  /** Empty to remove the text. */
  text: string;
  /** Refers to the stored text; called with null for an empty one. */
  write: (source: TextSource | null) => Promise<{ before: T; after: T }>;
}

/**
 * Stores a text in a Secret that the owner owns, refers to it, and removes the previous text. Changes of one text run
 * one at a time, so that none is left behind.
 */
export async function replaceOwnedText<T extends KubernetesObject>(options: ReplaceTextOptions<T>): Promise<T> {
  const { cluster, randomBytes, owner, stem, sourceOf, text, write } = options;
  const { namespace, name: ownerName, uid = '' } = owner.metadata;
  // The UID distinguishes the Secret from that of a deleted owner of the same name.
  const at = { namespace, name: `${stem}-${ownerName}-${uid.slice(-8)}` };
  return cluster.exclusively(Secret, at, async () => {
    const key = text === '' ? undefined : textKey('content', randomSuffix(randomBytes), text);
    if (key !== undefined) await addText(cluster, owner, at, key, text);
    try {
      const source = key === undefined ? null : { secretKeyRef: { name: at.name, key } };
      const { before, after } = await write(source);
      const former = sourceOf(before)?.secretKeyRef;
      if (former?.name === at.name) await removeText(cluster, at, former.key);
      return after;
    } catch (error) {
      // A request without a response may have been carried out.
      if (key !== undefined && !isUnavailable(error)) await removeText(cluster, at, key);
      throw error;
    }
  });
}
