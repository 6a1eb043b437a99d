import { ChangeWaiters, type WaitOptions } from './change-waiters.ts';
import { systemClock } from './clock.ts';
import { InformerCache, type ChangeListener, type ChangeType } from './informer-cache.ts';
import type { ListWatch } from './list-watch.ts';
import type { IndexFunction } from './object-store.ts';
import { Reflector, type ReflectorMetrics, type ReflectorOptions } from './reflector.ts';
import { compareResourceVersions, keyOf, type KubernetesObject } from './resource-type.ts';

/** Must only record the change, for example by adding a key to a queue. An error is logged and counted. */
export type InformerHandler<T> = ChangeListener<T>;

export interface InformerMetrics extends ReflectorMetrics {
  handlerFailed(): void;
}

export interface InformerOptions<T> extends ReflectorOptions<T> {
  /** Name for logs and metrics, usually the kind. */
  name: string;
  indexes?: Record<string, IndexFunction<T>>;
  /** Returns the part of an object to cache; must be idempotent. By default everything except managedFields. */
  transform?: (object: T) => T;
  metrics?: InformerMetrics | undefined;
}

/**
 * Caches all objects of one selection with list and watch, like client-go's shared informer. Objects are shared and
 * must not be modified.
 */
export class Informer<T extends KubernetesObject> {
  readonly #options: InformerOptions<T>;
  readonly #cache: InformerCache<T>;
  readonly #reflector: Reflector<T>;
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #waiters: ChangeWaiters<T>;
  readonly #versionWaiters: ChangeWaiters<string>;
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<undefined>();
  #hasSynced = false;
  #running: Promise<void> | undefined;

  constructor(options: InformerOptions<T>) {
    const { name, clock = systemClock, indexes = {}, transform = withoutManagedFields } = options;
    const logger = options.logger.child({ informer: name });
    const cache = new InformerCache<T>(indexes, (type, object, old) => this.#notify(type, object, old));
    this.#options = { ...options, transform, logger };
    this.#cache = cache;
    this.#waiters = new ChangeWaiters((key) => this.get(key), clock, name);
    this.#versionWaiters = new ChangeWaiters(() => cache.resourceVersion, clock, name);
    this.#reflector = new Reflector(
      { ...this.#options, source: pageByPage(options.source, transform) },
      {
        replace: (all) => {
          cache.replace(all);
          this.#becomeSynced();
          this.#versionWaiters.evaluateAll();
        },
        take: (event) => {
          // The object of a bookmark has only a resourceVersion, not the fields that a transform expects.
          cache.take(event.type === 'BOOKMARK' ? event : { ...event, object: transform(event.object) });
          this.#versionWaiters.evaluateAll();
        },
        get resourceVersion() {
          return cache.resourceVersion;
        },
      },
    );
  }

  get name(): string {
    return this.#options.name;
  }

  /** Starts to list and watch; call it once. */
  start(): void {
    this.#running ??= this.#reflector.run(this.#stopping.signal);
  }

  /** Ends the watch and all waits; resolves when they have ended. The objects remain readable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const waiters of [this.#waiters, this.#versionWaiters]) {
      waiters.rejectAll(new Error(`the informer of ${this.name} was stopped`));
    }
    await this.#running;
  }

  /** Returns whether the first list is complete and its handlers have been called. */
  hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when hasSynced() returns true. */
  async whenSynced(): Promise<void> {
    await this.#synced.promise;
  }

  /** Returns the object with this key, as in objectKey(). */
  get(key: string): T | undefined {
    return this.#cache.store.get(key);
  }

  list(): T[] {
    return this.#cache.store.list();
  }

  byIndex(index: string, value: string): T[] {
    return this.#cache.store.byIndex(index, value);
  }

  /** The resource version up to which the cache is complete; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#cache.resourceVersion;
  }

  /** Adds a handler and calls it with `added` for all cached objects. @returns a function that removes it */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, 'added', object);
    return () => this.#handlers.delete(handler);
  }

  /**
   * Adds an object that this process has just written to the cache, so that the next reconcile sees it; calls the
   * handlers. It must match the informer's selection.
   */
  observe(object: T): void {
    this.#cache.observe((this.#options.transform ?? withoutManagedFields)(object));
  }

  /**
   * Resolves with the object under `key`, or undefined if it does not exist, when the predicate holds for it.
   * @throws WaitTimeoutError after `timeoutMs`, the signal's reason, or an error of the predicate
   */
  waitFor(key: string, predicate: (object: T | undefined) => boolean, options: WaitOptions): Promise<T | undefined> {
    return this.#waiters.waitFor(key, predicate, options, this.#hasSynced);
  }

  /**
   * Resolves when the cache has reached this resource version, which must be that of an object or list of this type:
   * the watch reports no others.
   * @throws WaitTimeoutError after `timeoutMs`
   */
  async whenSeen(resourceVersion: string, options: WaitOptions): Promise<void> {
    const isSeen = (seen: string | undefined) => compareResourceVersions(seen, resourceVersion) >= 0;
    await this.#versionWaiters.waitFor(`version ${resourceVersion}`, isSeen, options, true);
  }

  #becomeSynced(): void {
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    this.#synced.resolve(undefined);
    this.#waiters.evaluateAll();
    this.#options.logger.debug({ objects: this.#cache.store.size }, 'informer synced');
  }

  #notify(type: ChangeType, object: T, old?: T): void {
    for (const handler of this.#handlers) this.#call(handler, type, object, old);
    if (this.#hasSynced) this.#waiters.evaluate(keyOf(object));
  }

  #call(handler: InformerHandler<T>, type: ChangeType, object: T, old?: T): void {
    try {
      handler(type, object, old);
    } catch (error) {
      this.#options.metrics?.handlerFailed();
      this.#options.logger.error({ err: error, key: keyOf(object), type }, 'an informer handler threw');
    }
  }
}

/**
 * Transforms the objects of each page of a list on arrival: a list of complete objects can need many times the memory, and
 * the time passes while the API server writes the next page.
 */
function pageByPage<T>(source: ListWatch<T>, transform: (object: T) => T): ListWatch<T> {
  return {
    async list(options) {
      const page = await source.list(options);
      return { ...page, items: page.items.map(transform) };
    },
    watch: (options) => source.watch(options),
  };
}

function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}
