import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { isOwnedBy, ownerReference } from '../../kubernetes/owner.ts';
import { Secret, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../kubernetes/secret-texts.ts';
import { Waiting } from './errors.ts';

/** A Secret beside its owner that Coppice fills once, and that goes with the owner. */
export interface OwnedSecret {
  name: string;
  type: string;
  /** It is whole when each of these holds a text. */
  keys: readonly string[];
  makeTexts: () => Promise<Record<string, string>>;
  /** Why it is waited for while one of the name is somebody else's, or is not whole. */
  refusal: { reason: string; message: string };
}

const recheckMs = 2000;

/**
 * The Secret, made where there is none. What somebody else wrote there would let them speak for the owner: it is never
 * taken over, Waiting is thrown until it is gone.
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
    // Another operator's, perhaps, which came first.
    return { secret: usable(await client.get(Secret, { namespace, name })), isNew: false };
  }
}
