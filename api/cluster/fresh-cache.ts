import type { IndexFunction } from '../../kubernetes/object-store.ts';
import { WaitTimeoutError, type WaitOptions } from '../../kubernetes/change-waiters.ts';
import type { ObjectList } from '../../kubernetes/client-options.ts';
import type { Informer, InformerHandler } from '../../kubernetes/informer.ts';
import { InformerCache } from '../../kubernetes/informer-cache.ts';
import { compareResourceVersions, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { ObjectCache } from './object-cache.ts';

/** How long a read waits for the watch, which normally reports a write within milliseconds. */
const timeoutMs = 2000;

export interface FreshCacheOptions<T extends KubernetesObject> {
  informer: ObjectCache<T> & Pick<Informer<T>, 'resourceVersion' | 'whenSeen'>;
  /** Indexes of the informer. */
  indexes: Record<string, IndexFunction<T>>;
  /** Lists all objects of the type from the API server. */
  list: () => Promise<ObjectList<T>>;
}

/**
 * An informer's objects, which can be requested to be at least as new as a version. If the watch is late, the API
 * server's list replaces it until it has caught up.
 */
export class FreshCache<T extends KubernetesObject> implements ObjectCache<T> {
  readonly #options: FreshCacheOptions<T>;
  #listed: InformerCache<T> | undefined;
  #listing: Promise<void> | undefined;

  constructor(options: FreshCacheOptions<T>) {
    this.#options = options;
  }

  get(key: string): T | undefined {
    return (this.#standIn()?.store ?? this.#options.informer).get(key);
  }

  byIndex(index: string, value: string): T[] {
    return (this.#standIn()?.store ?? this.#options.informer).byIndex(index, value);
  }

  observe(object: T): void {
    this.#options.informer.observe(object);
    this.#standIn()?.observe(object);
  }

  waitFor(key: string, predicate: (object: T | undefined) => boolean, options: WaitOptions): Promise<T | undefined> {
    return this.#options.informer.waitFor(key, predicate, options);
  }

  /** Adds a handler to the informer. @returns a function that removes it */
  addHandler(handler: InformerHandler<T>): () => void {
    return this.#options.informer.addHandler(handler);
  }

  /** The version up to which the informer has called its handlers; undefined before its first list. */
  get handledVersion(): string | undefined {
    return this.#options.informer.resourceVersion;
  }

  /** The version up to which everything can be read. */
  get resourceVersion(): string | undefined {
    return this.#standIn()?.resourceVersion ?? this.#options.informer.resourceVersion;
  }

  /**
   * Resolves when everything up to this version, of this type, can be read.
   * @throws what the API server's list throws.
   */
  async upTo(resourceVersion: string): Promise<void> {
    if (compareResourceVersions(this.resourceVersion, resourceVersion) >= 0) return;
    const { informer } = this.#options;
    if (!(await inTime(informer.whenSeen(resourceVersion, { timeoutMs: timeoutMs })))) await this.#list();
  }

  /** Returns whether the informer has read this version within a time. Lists nothing: callers choose the version. */
  seenWithin(resourceVersion: string, ms: number): Promise<boolean> {
    return inTime(this.#options.informer.whenSeen(resourceVersion, { timeoutMs: ms }));
  }

  /** Resolves when a deletion that the API server has accepted can be read: the object is gone or marked as deleted. */
  async withoutDeleted(key: string, uid: string | undefined): Promise<void> {
    const isDeleted = (object: T | undefined) =>
      object?.metadata.uid !== uid || object?.metadata.deletionTimestamp !== undefined;
    if (isDeleted(this.get(key))) return;
    const { informer } = this.#options;
    if (!(await inTime(informer.waitFor(key, isDeleted, { timeoutMs: timeoutMs })))) await this.#list();
  }

  /** Returns the list while it is newer than what the watch has reported. */
  #standIn(): InformerCache<T> | undefined {
    const { informer } = this.#options;
    if (this.#listed && compareResourceVersions(informer.resourceVersion, this.#listed.resourceVersion) >= 0) {
      this.#listed = undefined;
    }
    return this.#listed;
  }

  /** Lists the objects; concurrent callers share one list. */
  async #list(): Promise<void> {
    await Promise.allSettled([this.#listing]);
    this.#listing ??= this.#readThrough().finally(() => {
      this.#listing = undefined;
    });
    await this.#listing;
  }

  async #readThrough(): Promise<void> {
    const { list, indexes } = this.#options;
    const listed = new InformerCache<T>(indexes, () => undefined);
    listed.replace(await list());
    if (compareResourceVersions(listed.resourceVersion, this.resourceVersion) > 0) this.#listed = listed;
  }
}

/** The part that does not depend on the objects' type. */
export type AnyFreshCache = Pick<FreshCache<KubernetesObject>, 'upTo' | 'withoutDeleted' | 'resourceVersion'>;

async function inTime(wait: Promise<unknown>): Promise<boolean> {
  try {
    await wait;
    return true;
  } catch (error) {
    if (error instanceof WaitTimeoutError) return false;
    throw error;
  }
}
