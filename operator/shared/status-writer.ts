import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGERS } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';

interface WithStatus extends KubernetesObject {
  status?: unknown;
}

/** The part of a status that one of several writers owns. */
export interface StatusPart<T extends WithStatus> {
  fieldManager: string;
  /** Returns only this part; this writer neither changes nor removes fields of others. */
  of: (status: NonNullable<T['status']>) => T['status'];
}

/** Writes an object's status if it differs from the current one, with one write for each change. */
export class StatusWriter<T extends WithStatus> {
  readonly #client: Pick<ClusterClient, 'applyStatus'>;
  readonly #type: ResourceType;
  readonly #cache: Pick<Informer<T>, 'observe'>;
  readonly #part: StatusPart<T>;

  constructor(
    client: Pick<ClusterClient, 'applyStatus'>,
    type: ResourceType,
    cache: Pick<Informer<T>, 'observe'>,
    part: StatusPart<T> = { fieldManager: FIELD_MANAGERS.operator, of: (status) => status },
  ) {
    this.#client = client;
    this.#type = type;
    this.#cache = cache;
    this.#part = part;
  }

  /** Writes the status, and sets `object.status` to what was written. */
  async write(object: T, status: T['status']): Promise<void> {
    const wanted = this.#ownPart(status);
    if (isDeepStrictEqual(wanted, this.#ownPart(object.status))) return;
    const { name, namespace, uid } = object.metadata;
    // The UID prevents writing the status to a new object of the same name.
    const target = {
      apiVersion: object.apiVersion,
      kind: this.#type.kind,
      metadata: { name, namespace, uid },
      status: wanted,
    };
    const { fieldManager } = this.#part;
    const written = (await this.#client.applyStatus(this.#type, target, { fieldManager, force: true })) as T;
    object.status = written.status;
    this.#cache.observe(written);
  }

  #ownPart(status: T['status']): unknown {
    return plain(this.#part.of(status ?? {}) ?? {});
  }
}

/** Returns the value as it is after serialization: without undefined fields. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
