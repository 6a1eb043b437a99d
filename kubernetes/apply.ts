import { isAlreadyExists, isNotFound } from './api-error.ts';
import type { RequestOptions } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import { apiVersionOf, keyOf, type KubernetesObject, type ResourceType } from './resource-type.ts';
import { hashOf, isSubset, project } from './subset.ts';

export { hashOf } from './subset.ts';

export interface ApplierOptions {
  client: Pick<ClusterClient, 'apply' | 'create' | 'replace'>;
  fieldManager: string;
  /** Annotation with the hash of the object that was last applied. */
  hashAnnotation: string;
  /** Runs the write of an object when a slot is free. By default at once. */
  inSlot?: InSlot;
  /** Called with each object that a request has changed. */
  onWritten?: (object: KubernetesObject) => void;
}

export type InSlot = <T>(object: KubernetesObject, write: () => Promise<T>) => Promise<T>;

export interface Applied<T> {
  /** The current object. */
  object: T;
  /** False if no request was made, or the request left the object as `live` was. */
  written: boolean;
}

/** Enough for all live objects; a forgotten one costs one request that changes nothing. */
const maxNormalized = 50_000;

/** The state of an object that is to be replaced, or whether it exists. */
export type Known<T> = { live: T | undefined } | { isNew: boolean };

/**
 * Applies objects with forced server-side apply, or replaces them as a whole, and skips requests that would change
 * nothing: when the live object's annotation shows that the same object was applied last, and the live object still
 * contains all its fields. Removing a field changes the hash, so the apply is sent and removes it.
 */
export class Applier {
  readonly #options: ApplierOptions;
  /**
   * By object: the hash of its form after the apply, for objects that the API server normalizes (a quantity `1000m`
   * becomes `1`, a Secret's stringData is not stored).
   */
  readonly #normalized = new Map<string, string>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  /**
   * Applies the object unless that would change nothing.
   * @param live the known state of the object, such as from an informer; undefined if it does not exist
   * @throws as ClusterClient.apply does
   */
  async apply<T extends KubernetesObject>(
    type: ResourceType<T>,
    desired: T,
    live: T | undefined,
    options: RequestOptions = {},
  ): Promise<Applied<T>> {
    const { client, fieldManager } = this.#options;
    return this.#write(type, desired, live, (stamped) =>
      client.apply(type, stamped, { ...options, fieldManager, force: true }),
    );
  }

  /**
   * Creates the object, or replaces it with everything that others have added to it, unless that would change nothing.
   * Both cost the API server less than an apply, and remove fields that the object no longer names. For objects in which
   * nobody else owns a field: never apply() them as well, because an apply removes no field that a replacement has set.
   * @param known the known state, such as from an informer; if it is not known, whether the object probably does not
   * exist. A wrong guess costs one more request.
   * @throws as ClusterClient.create and replace do
   */
  async replace<T extends KubernetesObject>(
    type: ResourceType<T>,
    desired: T,
    known: Known<T>,
    options: RequestOptions = {},
  ): Promise<Applied<T>> {
    const { client, fieldManager } = this.#options;
    const live = 'live' in known ? known.live : undefined;
    const isNew = 'live' in known ? live === undefined : known.isNew;
    const by = { ...options, fieldManager };
    return this.#write(type, desired, live, async (stamped) => {
      const create = () => client.create(type, stamped, by);
      const replace = () => client.replace(type, stamped, by);
      return isNew ? orElse(create, isAlreadyExists, replace) : orElse(replace, isNotFound, create);
    });
  }

  async #write<T extends KubernetesObject>(
    type: ResourceType<T>,
    desired: T,
    live: T | undefined,
    write: (stamped: T) => Promise<T>,
  ): Promise<Applied<T>> {
    const { hashAnnotation, inSlot = atOnce, onWritten } = this.#options;
    const annotations = { ...desired.metadata.annotations, [hashAnnotation]: hashOf(desired) };
    const stamped = {
      ...desired,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { ...desired.metadata, annotations },
    };
    const id = `${type.group}/${type.kind}/${keyOf(desired)}`;
    if (live && this.#isApplied(id, stamped, live)) return { object: live, written: false };
    const object = await inSlot(stamped, () => write(stamped));
    if (isSubset(stamped, object)) this.#normalized.delete(id);
    else this.#remember(id, hashOf([object.metadata.uid, project(stamped, object)]));
    const written = object.metadata.resourceVersion !== live?.metadata.resourceVersion;
    if (written) onWritten?.(object);
    return { object, written };
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

function atOnce<T>(_object: KubernetesObject, write: () => Promise<T>): Promise<T> {
  return write();
}

/** Returns the first result, or that of the alternative if the first fails with such an error. */
async function orElse<T>(
  first: () => Promise<T>,
  isExpected: (error: unknown) => boolean,
  alternative: () => Promise<T>,
): Promise<T> {
  try {
    return await first();
  } catch (error) {
    if (!isExpected(error)) throw error;
  }
  return alternative();
}
