import { isInvalid } from '../../kubernetes/api-error.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { addText, removeText, storedBytes, textKey, type TextReference } from '../cluster/owned-secret.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { Invalid } from '../http/errors.ts';
import type { VariableOwner } from './variable-owner.ts';

/** Bytes that one Secret holds, but of a single larger value: a write of one value rewrites all of its Secret. */
const SECRET_BYTES = 32 * 1024;
/** Of all values of one Group or Repository. */
export const OWNER_BYTES = 256 * 1024;

/**
 * The Secrets in which the API keeps the values of one Group's or Repository's variables (ADR 17). A value is written once,
 * under a key of its own, and the variable's reference is what changes: whoever reads the two finds them in accord, and
 * whoever watches the owner sees that a value changed. There are as many Secrets as keep each of them small, numbered
 * from 0, so that a write costs what it changes. How long a value is stands in its key: `NAME.SUFFIX.BYTES`.
 */
export class VariableSecrets {
  readonly #cluster: Pick<ClusterWriter, 'create' | 'patch'>;
  readonly #owner: VariableOwner;
  readonly #namespace: string;
  readonly #randomBytes: RandomBytes;

  constructor(
    cluster: Pick<ClusterWriter, 'create' | 'patch'>,
    owner: VariableOwner,
    namespace: string,
    randomBytes: RandomBytes,
  ) {
    this.#cluster = cluster;
    this.#owner = owner;
    this.#namespace = namespace;
    this.#randomBytes = randomBytes;
  }

  /** The UID keeps it apart from one that is still to go with a former owner of the same name. */
  static stemOf({ metadata: { name, uid = '' } }: KubernetesObject): string {
    return `variables-${name}-${uid.slice(-8)}`;
  }

  /** @throws Invalid when it does not fit any more. */
  async add(variable: string, value: string): Promise<TextReference> {
    const name = this.#assign(variable, Buffer.byteLength(value));
    const key = textKey(variable, randomSuffix(this.#randomBytes), value);
    try {
      await addText(this.#cluster, this.#owner, { namespace: this.#namespace, name }, key, value);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      throw doesNotFit(error);
    }
    return { name, key };
  }

  /** Takes a value out that nothing refers to any more. One that is in another Secret is somebody else's, and stays. */
  async remove(reference: TextReference | undefined): Promise<void> {
    if (reference === undefined || !isOfStem(reference.name, VariableSecrets.stemOf(this.#owner))) return;
    await removeText(this.#cluster, { namespace: this.#namespace, name: reference.name }, reference.key);
  }

  /** The name of the first Secret with room for the value, which takes the place of the variable's former one. */
  #assign(variable: string, bytes: number): string {
    const stem = VariableSecrets.stemOf(this.#owner);
    const sizes = new Map<string, number>();
    let total = bytes;
    for (const { name, valueFrom } of this.#owner.spec.variables ?? []) {
      const reference = valueFrom?.secretKeyRef;
      if (!reference || !isOfStem(reference.name, stem)) continue;
      const size = storedBytes(reference);
      sizes.set(reference.name, (sizes.get(reference.name) ?? 0) + size);
      if (name !== variable) total += size;
    }
    if (total > OWNER_BYTES) throw doesNotFit();
    for (let index = 0; ; index++) {
      const name = `${stem}-${index}`;
      const size = sizes.get(name) ?? 0;
      if (size === 0 || size + bytes <= SECRET_BYTES) return name;
    }
  }
}

/** Whether the API made it for the owner; once there was one without a number. */
function isOfStem(name: string, stem: string): boolean {
  return name === stem || (name.startsWith(`${stem}-`) && /^\d{1,3}$/.test(name.slice(stem.length + 1)));
}

function doesNotFit(cause?: unknown): Invalid {
  const message = `does not fit: the values of all variables here may have ${OWNER_BYTES / 1024} KiB together. Shorten or delete some`;
  return new Invalid('the body is not valid', { cause, details: [{ path: 'value', message }] });
}
