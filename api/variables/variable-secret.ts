import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { isAlreadyExists, isInvalid, isNotFound } from '../../kubernetes/api-error.ts';
import { Secret, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { Invalid } from '../http/errors.ts';

/** One value: `secretKeyRef` of a variable. */
export interface ValueReference {
  name: string;
  key: string;
}

/**
 * The Secret in which the API keeps the values of one Group's or Repository's variables (ADR 17). A value is written once,
 * under a key of its own, and the variable's reference is what changes: whoever reads the two finds them in accord, and
 * whoever watches the owner sees that a value changed.
 */
export class VariableSecret {
  readonly #cluster: Pick<ClusterWriter, 'create' | 'patch'>;
  readonly #owner: KubernetesObject;
  readonly #namespace: string;
  readonly #randomBytes: RandomBytes;

  constructor(
    cluster: Pick<ClusterWriter, 'create' | 'patch'>,
    owner: KubernetesObject,
    namespace: string,
    randomBytes: RandomBytes,
  ) {
    this.#cluster = cluster;
    this.#owner = owner;
    this.#namespace = namespace;
    this.#randomBytes = randomBytes;
  }

  /** The UID keeps it apart from one that is still to go with a former owner of the same name. */
  get name(): string {
    const { name, uid = '' } = this.#owner.metadata;
    return `variables-${name}-${uid.slice(-8)}`;
  }

  /** @throws Invalid when it does not fit any more. */
  async add(variable: string, value: string): Promise<ValueReference> {
    const key = `${variable}.${randomSuffix(this.#randomBytes)}`;
    try {
      await this.#write(encodeTexts({ [key]: value }));
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const message = 'does not fit: the values of all variables here may have 1 MiB together';
      throw new Invalid('the body is not valid', { cause: error, details: [{ path: 'value', message }] });
    }
    return { name: this.name, key };
  }

  /** Takes a value out that nothing refers to any more. One that is in another Secret is somebody else's, and stays. */
  async remove(reference: ValueReference | undefined): Promise<void> {
    if (reference?.name !== this.name) return;
    try {
      await this.#patch({ [reference.key]: null });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #write(data: Record<string, string>): Promise<void> {
    try {
      await this.#patch(data);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#create(data);
    }
  }

  async #create(data: Record<string, string>): Promise<void> {
    const { apiVersion, kind, metadata } = this.#owner;
    try {
      await this.#cluster.create(Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          namespace: this.#namespace,
          name: this.name,
          labels: { [LABELS.managedBy]: MANAGED_BY },
          ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
        },
        type: 'Opaque',
        data,
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.#patch(data);
    }
  }

  async #patch(data: Record<string, string | null>): Promise<void> {
    await this.#cluster.patch(Secret, { namespace: this.#namespace, name: this.name }, { data });
  }
}
