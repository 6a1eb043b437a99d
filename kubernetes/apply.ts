import type { RequestOptions } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import { apiVersionOf, keyOf, type KubernetesObject, type ResourceType } from './resource-type.ts';
import { hashOf, isSubset, project } from './subset.ts';

export { hashOf } from './subset.ts';

export interface ApplierOptions {
  client: Pick<ClusterClient, 'apply'>;
  fieldManager: string;
  /** The annotation that holds the hash of what was applied last. */
  hashAnnotation: string;
}

export interface Applied<T> {
  /** The object as it now is. */
  object: T;
  /** False when no request was made, or one that left the object as `live` is. */
  written: boolean;
}

/** Enough for all that live; what was forgotten costs one request that changes nothing. */
const maxNormalized = 50_000;

/**
 * Server-side apply, forced, that leaves out the requests that would change nothing. One is left out when the live
 * object's annotation says that the same was applied last and it still holds all of it. Fields that are no longer
 * named change the hash, so the apply is made, and removes them.
 */
export class Applier {
  readonly #options: ApplierOptions;
  /**
   * By object: of what the API server keeps in another form than it was given (a quantity `1000m` as `1`, a Secret's
   * stringData not at all), the hash of how it looked after the apply. Only such objects are in it.
   */
  readonly #normalized = new Map<string, string>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  /**
   * @param live the object as it is known to be, such as from an informer; undefined when there is none.
   * @throws as ClusterClient.apply does.
   */
  async apply<T extends KubernetesObject>(
    type: ResourceType<T>,
    desired: T,
    live: T | undefined,
    options: RequestOptions = {},
  ): Promise<Applied<T>> {
    const { client, fieldManager, hashAnnotation } = this.#options;
    const annotations = { ...desired.metadata.annotations, [hashAnnotation]: hashOf(desired) };
    const stamped = {
      ...desired,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { ...desired.metadata, annotations },
    };
    const id = `${type.group}/${type.kind}/${keyOf(desired)}`;
    if (live && this.#isApplied(id, stamped, live)) return { object: live, written: false };
    const object = await client.apply(type, stamped, { ...options, fieldManager, force: true });
    if (isSubset(stamped, object)) this.#normalized.delete(id);
    else this.#remember(id, hashOf([object.metadata.uid, project(stamped, object)]));
    return { object, written: object.metadata.resourceVersion !== live?.metadata.resourceVersion };
  }

  #remember(id: string, hash: string): void {
    this.#normalized.delete(id);
    this.#normalized.set(id, hash);
    const [oldest] = this.#normalized.keys();
    if (this.#normalized.size > maxNormalized && oldest !== undefined) this.#normalized.delete(oldest);
  }

  #isApplied(id: string, stamped: KubernetesObject, live: KubernetesObject): boolean {
    const key = this.#options.hashAnnotation;
    if (live.metadata.annotations?.[key] !== stamped.metadata.annotations?.[key]) return false;
    if (isSubset(stamped, live)) return true;
    return this.#normalized.get(id) === hashOf([live.metadata.uid, project(stamped, live)]);
  }
}
