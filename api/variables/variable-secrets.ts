import { isInvalid } from '../../kubernetes/api-error.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { addText, removeText, storedBytes, textKey, type TextReference } from '../cluster/owned-secret.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { invalid, type Invalid } from '../shared/errors.ts';
import { variablesOf, type VariableOwner } from '../shared/variable-owner.ts';

/**
 * Maximum number of bytes in one Secret, except for a single larger value: writing one value rewrites its whole Secret.
 */
const secretBytes = 8 * 1024;
/** Maximum number of bytes of all values of one Group or Repository. */
export const OWNER_BYTES = 256 * 1024;
/** The same of one Environment. */
export const OVERRIDES_BYTES = 64 * 1024;

/**
 * Stores the values of one owner's variables in Secrets (ADR 17). A changed value gets a new key, and
 * the reference in the spec changes with it: readers always find a matching pair, and watchers of the owner notice the
 * change. The values are spread over Secrets numbered from 0, so that a write rewrites only a small one. A key contains
 * the size of its value: `NAME.SUFFIX.BYTES`.
 */
export class VariableSecrets {
  readonly #cluster: Pick<ClusterWriter, 'create' | 'patch'>;
  readonly #owner: VariableOwner;
  readonly #namespace: string;
  readonly #randomBytes: RandomBytes;
  readonly #maxBytes: number;

  constructor(
    cluster: Pick<ClusterWriter, 'create' | 'patch'>,
    owner: VariableOwner,
    namespace: string,
    randomBytes: RandomBytes,
    maxBytes = OWNER_BYTES,
  ) {
    this.#maxBytes = maxBytes;
    this.#cluster = cluster;
    this.#owner = owner;
    this.#namespace = namespace;
    this.#randomBytes = randomBytes;
  }

  /**
   * Returns the names' common stem. The UID distinguishes the Secrets from those of a deleted owner of the same name.
   */
  static stemOf({ metadata: { name, uid = '' } }: KubernetesObject): string {
    return `variables-${name}-${uid.slice(-8)}`;
  }

  /** Stores a value. @throws Invalid when the owner's values would exceed the limit */
  async add(variable: string, value: string): Promise<TextReference> {
    const name = this.#assign(variable, Buffer.byteLength(value));
    const key = textKey(variable, randomSuffix(this.#randomBytes), value);
    try {
      await addText(this.#cluster, this.#owner, { namespace: this.#namespace, name }, key, value);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      throw doesNotFit(this.#maxBytes, error);
    }
    return { name, key };
  }

  /** Removes a value that nothing refers to any more. A value in a Secret that the API did not create is kept. */
  async remove(reference: TextReference | undefined): Promise<void> {
    if (reference === undefined || !isOfStem(reference.name, VariableSecrets.stemOf(this.#owner))) return;
    await removeText(this.#cluster, { namespace: this.#namespace, name: reference.name }, reference.key);
  }

  /** Returns the name of the first Secret with room for the value, not counting the variable's previous value. */
  #assign(variable: string, bytes: number): string {
    const stem = VariableSecrets.stemOf(this.#owner);
    const sizes = new Map<string, number>();
    let total = bytes;
    for (const { name, valueFrom } of variablesOf(this.#owner)) {
      const reference = valueFrom?.secretKeyRef;
      if (!reference || !isOfStem(reference.name, stem)) continue;
      const size = storedBytes(reference);
      sizes.set(reference.name, (sizes.get(reference.name) ?? 0) + size);
      if (name !== variable) total += size;
    }
    if (total > this.#maxBytes) throw doesNotFit(this.#maxBytes);
    for (let index = 0; ; index++) {
      const name = `${stem}-${index}`;
      const size = sizes.get(name) ?? 0;
      if (size === 0 || size + bytes <= secretBytes) return name;
    }
  }
}

/** Returns whether the API created the Secret for this owner; earlier versions created one without a number. */
function isOfStem(name: string, stem: string): boolean {
  return name === stem || (name.startsWith(`${stem}-`) && /^\d{1,3}$/.test(name.slice(stem.length + 1)));
}

function doesNotFit(maxBytes: number, cause?: unknown): Invalid {
  const message = `does not fit: the values of all variables can have ${maxBytes / 1024} KiB together. Shorten or delete some`;
  return invalid('the body', [{ path: 'value', message }], { cause });
}
