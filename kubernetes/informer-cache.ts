import type { ObjectList, WatchEvent } from './client-options.ts';
import { ObjectStore, type IndexFunction } from './object-store.ts';
import { compareResourceVersions, keyOf, type KubernetesObject } from './resource-type.ts';

export type ChangeType = 'added' | 'updated' | 'deleted';

/** Called with every change, in order. `old` is the cached object before an update. */
export type ChangeListener<T> = (type: ChangeType, object: T, old?: T) => void;

/**
 * The objects of an informer, and the rules by which lists, watch events and this process's own writes change them: an
 * object never returns to an older resource version, and a deleted object does not reappear.
 */
export class InformerCache<T extends KubernetesObject> {
  readonly #store: ObjectStore<T>;
  readonly #notify: ChangeListener<T>;
  /** The resource version up to which lists and watch events were received. */
  #seen: string | undefined;

  constructor(indexes: Record<string, IndexFunction<T>>, notify: ChangeListener<T>) {
    this.#store = new ObjectStore(indexes);
    this.#notify = notify;
  }

  get store(): Pick<ObjectStore<T>, 'get' | 'list' | 'byIndex' | 'size'> {
    return this.#store;
  }

  get resourceVersion(): string | undefined {
    return this.#seen;
  }

  /** Replaces the objects by a full list; missing ones were deleted while nothing was watched. */
  replace({ items, resourceVersion }: ObjectList<T>): void {
    // A list reads the newest state. If it is older than the last one, etcd was restored, and cached versions are
    // meaningless.
    const restored = compareResourceVersions(resourceVersion, this.#seen) < 0;
    const isNewer = (object: T, version: string | undefined) =>
      !restored && compareResourceVersions(object.metadata.resourceVersion, version) > 0;
    this.#seen = resourceVersion;
    const listed = new Set(items.map(keyOf));
    for (const [key, held] of this.#store.entries()) {
      // An object newer than the list was written by this process after it; the watch will report it.
      if (!listed.has(key) && !isNewer(held, resourceVersion)) this.#delete(key, held);
    }
    for (const item of items) {
      const held = this.#store.get(keyOf(item));
      if (held && isNewer(held, item.metadata.resourceVersion)) continue;
      if (held?.metadata.resourceVersion === item.metadata.resourceVersion && !restored) continue;
      this.#set(item, held);
    }
  }

  /** Handles a watch event. @throws TypeError for an event without the fields that every event has */
  take({ type, object }: WatchEvent<T>): void {
    const version = (object as Partial<T> | undefined)?.metadata?.resourceVersion;
    if (!version) throw new TypeError(`a watch event of type ${type} has no resource version`);
    if (type === 'BOOKMARK') {
      this.#seen = version;
      return;
    }
    if (!object.metadata.name) throw new TypeError(`a watch event of type ${type} has no name`);
    const key = keyOf(object);
    const held = this.#store.get(key);
    const order = compareResourceVersions(version, held?.metadata.resourceVersion);
    if (type === 'DELETED') {
      if (held && order >= 0) this.#delete(key, object);
    } else if (order > 0) {
      this.#set(object, held);
    }
    this.#seen = version;
  }

  /** Adds an object that this process has just written, unless the watch has already reported it or a newer version. */
  observe(object: T): void {
    const { resourceVersion } = object.metadata;
    const held = this.#store.get(keyOf(object));
    if (compareResourceVersions(resourceVersion, this.#seen) <= 0) return;
    if (compareResourceVersions(resourceVersion, held?.metadata.resourceVersion) <= 0) return;
    this.#set(object, held);
  }

  #set(object: T, held: T | undefined): void {
    this.#store.set(keyOf(object), object);
    if (held) this.#notify('updated', object, held);
    else this.#notify('added', object);
  }

  #delete(key: string, last: T): void {
    this.#store.delete(key);
    this.#notify('deleted', last);
  }
}
