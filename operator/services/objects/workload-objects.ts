import { ANNOTATIONS } from '../../../crds/labels.ts';
import { hashOf, type Applier } from '../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, type KubernetesObject, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { createOrGet } from '../../shared/create-or-get.ts';
import { refusedForGood } from '../diagnosis/refusal.ts';

export type WorkloadClient = Pick<ClusterClient, 'create' | 'delete' | 'get' | 'list' | 'patch'>;

/** Manages one kind of object in environments' namespaces: reads from the cache, and writes only changes. */
export class WorkloadObjects<T extends KubernetesObject> {
  readonly #client: WorkloadClient;
  readonly #applier: Applier;
  readonly #type: ResourceType<T>;
  readonly #replaces: boolean;
  readonly cache: Informer<T>;

  /** `replaces`: nobody else owns a field of these objects, so they are replaced instead of applied, which costs less. */
  constructor(
    client: WorkloadClient,
    applier: Applier,
    type: ResourceType<T>,
    cache: Informer<T>,
    { replaces = false } = {},
  ) {
    this.#client = client;
    this.#applier = applier;
    this.#type = type;
    this.#replaces = replaces;
    this.cache = cache;
  }

  in(namespace: string): T[] {
    return this.cache.byIndex('namespace', namespace);
  }

  /** Returns whether exactly this object was applied last. */
  isApplied(desired: T): boolean {
    const applied = this.cache.get(keyOf(desired))?.metadata.annotations?.[ANNOTATIONS.appliedHash];
    return applied === hashOf(desired);
  }

  /** Applies or replaces an object. Throws Stalled when a quota refuses it. */
  async apply(desired: T): Promise<T> {
    return this.#write(async () => {
      const live = this.cache.get(keyOf(desired));
      const { object, written } = this.#replaces
        ? await this.#applier.replace(this.#type, desired, { live })
        : await this.#applier.apply(this.#type, desired, live);
      if (written) this.cache.observe(object);
      return object;
    });
  }

  /** Creates the object unless it exists; never changes it. Throws as apply(). */
  async createOnce(desired: T): Promise<T> {
    const held = this.cache.get(keyOf(desired));
    if (held) return held;
    return this.#write(() => createOrGet(this.#client, this.cache, this.#type, desired));
  }

  annotate(object: T, annotations: Record<string, string>): Promise<void> {
    return this.patch(object, { metadata: { annotations } });
  }

  /** Merges into an object. */
  async patch(object: T, patch: object): Promise<void> {
    const { namespace, name } = object.metadata;
    this.cache.observe(await this.#client.patch(this.#type, { namespace, name }, patch));
  }

  /** Deletes an object. `Foreground`: it remains until its dependents are deleted. */
  async delete(object: T, propagationPolicy: 'Foreground' | 'Background' = 'Background'): Promise<void> {
    await deleteObject(this.#client, this.#type, object, { propagationPolicy });
  }

  /** Deletes the objects of a namespace for which `isKept` returns false. */
  async prune(namespace: string, isKept: (object: T) => boolean): Promise<void> {
    for (const object of this.in(namespace)) if (!isKept(object)) await this.delete(object);
  }

  async #write(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      throw refusedForGood(error);
    }
  }
}
