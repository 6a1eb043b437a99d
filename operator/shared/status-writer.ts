import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGERS } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';

interface WithStatus extends KubernetesObject {
  status?: unknown;
}

/** Which part of a status is one writer's own, where several write it. */
export interface StatusPart<T extends WithStatus> {
  fieldManager: string;
  /** The part alone; the rest belongs to others, whose fields this writer neither changes nor takes away. */
  of: (status: NonNullable<T['status']>) => T['status'];
}

/** Writes an object's status when it differs from what is there: one write for a real change, none otherwise. */
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

  /** `object.status` becomes what was written. */
  async write(object: T, status: T['status']): Promise<void> {
    const wanted = this.#ownPart(status);
    if (isDeepStrictEqual(wanted, this.#ownPart(object.status))) return;
    const { name, namespace, uid } = object.metadata;
    // The UID keeps a status from landing on a new object of the same name.
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

/** As it looks after a round trip: without what is undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
