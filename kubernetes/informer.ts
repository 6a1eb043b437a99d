import { ChangeWaiters, type WaitOptions } from './change-waiters.ts';
import { systemClock } from './clock.ts';
import { InformerCache, type ChangeListener, type ChangeType } from './informer-cache.ts';
import type { IndexFunction } from './object-store.ts';
import { Reflector, type ReflectorMetrics, type ReflectorOptions } from './reflector.ts';
import { compareResourceVersions, keyOf, type KubernetesObject } from './resource-type.ts';

/** May only note the change, such as by adding a key to a queue. A throw is logged and counted, and nothing else. */
export type InformerHandler<T> = ChangeListener<T>;

export interface InformerMetrics extends ReflectorMetrics {
  handlerFailed(): void;
}

export interface InformerOptions<T> extends ReflectorOptions<T> {
  /** For logs and metrics: the kind, most times. */
  name: string;
  indexes?: Record<string, IndexFunction<T>>;
  /** What is kept of an object; by default all but managedFields. */
  transform?: (object: T) => T;
  metrics?: InformerMetrics | undefined;
}

/**
 * Holds all objects of one selection, kept up by list and watch as client-go's shared informer does. Objects are
 * shared: whoever gets one must not change it.
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
    this.#reflector = new Reflector(this.#options, {
      replace: (all) => {
        cache.replace({ ...all, items: all.items.map(transform) });
        this.#becomeSynced();
        this.#versionWaiters.evaluateAll();
      },
      take: (event) => {
        // A bookmark's object has a resourceVersion and nothing else of what a transform expects.
        cache.take(event.type === 'BOOKMARK' ? event : { ...event, object: transform(event.object) });
        this.#versionWaiters.evaluateAll();
      },
      get resourceVersion() {
        return cache.resourceVersion;
      },
    });
  }

  get name(): string {
    return this.#options.name;
  }

  /** Starts to list and watch; once. */
  start(): void {
    this.#running ??= this.#reflector.run(this.#stopping.signal);
  }

  /** Ends the watch and what waits; resolves when nothing of it runs any more. The objects stay readable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const waiters of [this.#waiters, this.#versionWaiters]) {
      waiters.rejectAll(new Error(`the informer of ${this.name} was stopped`));
    }
    await this.#running;
  }

  /** The first list is complete, and its handlers have been called. */
  hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when hasSynced() turns true. */
  async whenSynced(): Promise<void> {
    await this.#synced.promise;
  }

  /** `key` as objectKey() makes it. */
  get(key: string): T | undefined {
    return this.#cache.store.get(key);
  }

  list(): T[] {
    return this.#cache.store.list();
  }

  byIndex(index: string, value: string): T[] {
    return this.#cache.store.byIndex(index, value);
  }

  /** Everything up to this version is in the cache; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#cache.resourceVersion;
  }

  /** Adds a handler and calls it for all cached objects as `added`. @returns a function that removes it. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, 'added', object);
    return () => this.#handlers.delete(handler);
  }

  /**
   * Puts an object that this process has just written into the cache, so that the next reconcile sees it; handlers are
   * reported. It must be of the informer's selection.
   */
  observe(object: T): void {
    this.#cache.observe((this.#options.transform ?? withoutManagedFields)(object));
  }

  /**
   * Resolves with the object under `key` as soon as the predicate holds for it; undefined is one that is not there.
   * @throws WaitTimeoutError after `timeoutMs`, the signal's reason, what the predicate throws.
   */
  waitFor(key: string, predicate: (object: T | undefined) => boolean, options: WaitOptions): Promise<T | undefined> {
    return this.#waiters.waitFor(key, predicate, options, this.#hasSynced);
  }

  /**
   * Resolves when everything up to this version is in the cache. It has to be one of this type's objects or lists: only
   * such versions come along. @throws WaitTimeoutError after `timeoutMs`.
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

function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}
