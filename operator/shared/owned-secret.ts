import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { isOwnedBy, ownerReference } from '../../kubernetes/owner.ts';
import { Secret, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../kubernetes/secret-texts.ts';
import { Waiting } from './errors.ts';

/** A Secret next to its owner, which Coppice creates once and which is deleted with the owner. */
export interface OwnedSecret {
  name: string;
  type: string;
  /** The Secret is complete when each of these keys has a text. */
  keys: readonly string[];
  makeTexts: () => Promise<Record<string, string>>;
  /** What to report while a Secret of this name belongs to somebody else, or is not complete. */
  refusal: { reason: string; message: string };
}

const recheckMs = 2000;

/**
 * Returns the Secret, created if missing. Never adopts somebody else's Secret, whose author could act as the owner:
 * throws Waiting until it is deleted.
 */
export async function ensureOwnedSecret(
  client: Pick<ClusterClient, 'find' | 'get' | 'create'>,
  owner: KubernetesObject,
  { name, type, keys, makeTexts, refusal }: OwnedSecret,
): Promise<{ secret: Secret; isNew: boolean }> {
  const { namespace } = owner.metadata;
  const usable = (secret: Secret) => {
    if (isOwnedBy(secret, owner) && keys.every((key) => (secretText(secret, key) ?? '') !== '')) return secret;
    throw new Waiting(refusal.reason, refusal.message, recheckMs);
  };
  const found = await client.find(Secret, { namespace, name });
  if (found) return { secret: usable(found), isNew: false };
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name,
      labels: { [LABELS.managedBy]: MANAGED_BY },
      ownerReferences: [ownerReference(owner)],
    },
    type,
    data: encodeTexts(await makeTexts()),
  };
  try {
    return { secret: await client.create(Secret, secret), isNew: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // Another operator may have created it first.
    return { secret: usable(await client.get(Secret, { namespace, name })), isNew: false };
  }
}
