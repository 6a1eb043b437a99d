import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGERS } from '../crds/labels.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import type { Informer } from '../kubernetes/informer.ts';
import type { KubernetesObject, ResourceType } from '../kubernetes/resource-type.ts';

interface WithStatus extends KubernetesObject {
  status?: unknown;
}

/** Writes an object's status when it differs from what is there: one write for a real change, none otherwise. */
export class StatusWriter<T extends WithStatus> {
  readonly #client: Pick<ClusterClient, 'applyStatus'>;
  readonly #type: ResourceType;
  readonly #cache: Pick<Informer<T>, 'observe'>;

  constructor(client: Pick<ClusterClient, 'applyStatus'>, type: ResourceType, cache: Pick<Informer<T>, 'observe'>) {
    this.#client = client;
    this.#type = type;
    this.#cache = cache;
  }

  /** `object.status` becomes what was written. */
  async write(object: T, status: T['status']): Promise<void> {
    const wanted = plain(status);
    if (isDeepStrictEqual(wanted, plain(object.status ?? {}))) return;
    const { name, namespace, uid } = object.metadata;
    // The UID keeps a status from landing on a new object of the same name.
    const target = {
      apiVersion: object.apiVersion,
      kind: this.#type.kind,
      metadata: { name, namespace, uid },
      status: wanted,
    };
    const written = await this.#client.applyStatus(this.#type, target, {
      fieldManager: FIELD_MANAGERS.operator,
      force: true,
    });
    object.status = wanted;
    this.#cache.observe(written as T);
  }
}

/** As it looks after a round trip: without what is undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
