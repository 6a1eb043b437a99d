import { ApiError } from '../../kubernetes/api-error.ts';
import { ChangeWaiters, type WaitOptions } from '../../kubernetes/change-waiters.ts';
import type { DeleteOptions, PatchOptions } from '../../kubernetes/client-options.ts';
import type { Clock } from '../../kubernetes/clock.ts';
import { InformerCache, type ChangeListener } from '../../kubernetes/informer-cache.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import {
  compareResourceVersions,
  keyOf,
  objectKey,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { FreshCache } from '../cluster/fresh-cache.ts';

type AnyCache = FakeInformer<KubernetesObject>;

/** Stores objects by the informer's own rules; only observe() adds any. */
class FakeInformer<T extends KubernetesObject> {
  readonly #cache: InformerCache<T>;
  readonly #waiters: ChangeWaiters<T>;
  readonly #handlers = new Set<ChangeListener<T>>();

  constructor(name: string, indexes: Record<string, IndexFunction<T>>, clock: Clock) {
    this.#cache = new InformerCache(indexes, (type, object, old) => {
      for (const handler of this.#handlers) handler(type, object, old);
      this.#waiters.evaluate(keyOf(object));
    });
    this.#waiters = new ChangeWaiters((key) => this.get(key), clock, name);
    this.#cache.replace({ items: [], resourceVersion: '1' });
  }

  get(key: string): T | undefined {
    return this.#cache.store.get(key);
  }

  byIndex(index: string, value: string): T[] {
    return this.#cache.store.byIndex(index, value);
  }

  get resourceVersion(): string | undefined {
    return this.#cache.resourceVersion;
  }

  addHandler(handler: ChangeListener<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.store.list()) handler('added', object);
    return () => this.#handlers.delete(handler);
  }

  /** Adds the object as a watch event would. */
  observe(object: T): void {
    this.#cache.observe(object);
    this.#cache.take({ type: 'BOOKMARK', object });
  }

  async whenSeen(resourceVersion: string, options: WaitOptions): Promise<void> {
    const isSeen = () => compareResourceVersions(this.resourceVersion, resourceVersion) >= 0;
    await this.#waiters.waitFor(`version ${resourceVersion}`, isSeen, options, true);
  }

  waitFor(key: string, predicate: (object: T | undefined) => boolean, options: WaitOptions): Promise<T | undefined> {
    return this.#waiters.waitFor(key, predicate, options, true);
  }

  watched(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    this.#cache.take({ type, object });
  }
}

/**
 * An API server in memory. Caches see a write only by observe(), as in the moment after a write; changes by change()
 * and remove() arrive as watch events.
 */
export class FakeCluster implements ClusterWriter {
  readonly #clock: Clock;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #informers = new Map<string, AnyCache>();
  #version = 1;
  /** Runs after an object was created; tests use it to act as the operator. */
  afterCreate: (type: ResourceType, object: KubernetesObject) => void = () => undefined;
  /** Error that the next write throws. */
  failure: Error | undefined;
  /** Errors that every patch of a kind throws. */
  readonly patchFailures = new Map<string, Error>();
  /** Merge patches in the order in which they were sent. */
  readonly patches: { kind: string; at: ObjectName; patch: object }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of all writes until now. */
  get writes(): number {
    return this.#version - 1;
  }

  cacheOf<T extends KubernetesObject>(type: ResourceType<T>, indexes: Record<string, IndexFunction<T>>): FreshCache<T> {
    const informer = new FakeInformer<T>(type.kind, indexes, this.#clock);
    this.#informers.set(type.kind, informer as unknown as AnyCache);
    return new FreshCache({ informer, indexes, list: () => this.#answer(() => this.#list(type)) });
  }

  find<T extends KubernetesObject>(type: ResourceType<T>, { namespace, name }: ObjectName): Promise<T | undefined> {
    return this.#answer(() => this.#objects.get(idOf(type, namespace, name)) as T | undefined);
  }

  create<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.#answer(() => {
      const created = this.#store(type, object);
      setImmediate(() => this.afterCreate(type, created));
      return created;
    });
  }

  patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: { metadata?: { uid?: string | undefined } },
    { resourceVersion }: PatchOptions = {},
  ): Promise<T> {
    return this.#answer(() => {
      const failure = this.patchFailures.get(type.kind);
      if (failure) throw failure;
      this.patches.push({ kind: type.kind, at, patch });
      const id = idOf(type, at.namespace, at.name);
      const { metadata } = this.#require(type, at);
      const asked = { uid: patch.metadata?.uid ?? metadata.uid, version: resourceVersion ?? metadata.resourceVersion };
      if (asked.uid !== metadata.uid || asked.version !== metadata.resourceVersion) {
        throw new ApiError('patch', 409, 'Conflict', 'the object has been modified');
      }
      const merged = merge(this.#require(type, at), patch) as T;
      const written = { ...merged, metadata: { ...merged.metadata, resourceVersion: this.#next() } };
      this.#objects.set(id, written);
      return written;
    });
  }

  /** Runs the work without ordering, as different replicas do. */
  exclusively<T extends KubernetesObject, R>(
    _type: ResourceType<T>,
    _at: ObjectName,
    work: () => Promise<R>,
  ): Promise<R> {
    return work();
  }

  delete(type: ResourceType, at: ObjectName, { uid, resourceVersion }: DeleteOptions = {}): Promise<void> {
    return this.#answer(() => {
      const { metadata } = this.#require(type, at);
      const asked = { uid: uid ?? metadata.uid, version: resourceVersion ?? metadata.resourceVersion };
      if (asked.uid !== metadata.uid || asked.version !== metadata.resourceVersion)
        throw new ApiError('delete', 409, 'Conflict', 'uid differs');
      this.remove(type, at);
    });
  }

  /** Creates an object as another client would; the watch delivers it. */
  add<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
    const added = this.#store(type, object);
    this.#informers.get(type.kind)?.watched('ADDED', added);
    return added;
  }

  /** Changes an object as another client would; the watch delivers it. */
  change<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName, patch: object): void {
    const merged = merge(this.#require(type, at), patch) as T;
    const changed = { ...merged, metadata: { ...merged.metadata, resourceVersion: this.#next() } };
    this.#objects.set(idOf(type, at.namespace, at.name), changed);
    this.#informers.get(type.kind)?.watched('MODIFIED', changed);
  }

  remove(type: ResourceType, at: ObjectName): void {
    const object = this.#require(type, at);
    this.#objects.delete(idOf(type, at.namespace, at.name));
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: this.#next() } };
    this.#informers.get(type.kind)?.watched('DELETED', last);
  }

  /** Returns all objects of a type. */
  all<T extends KubernetesObject>(type: ResourceType<T>): T[] {
    return [...this.#objects].filter(([id]) => id.startsWith(`${type.kind}:`)).map(([, object]) => object as T);
  }

  #list<T extends KubernetesObject>(type: ResourceType<T>) {
    return { items: this.all(type), resourceVersion: String(this.#version) };
  }

  #store<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
    const { namespace, name } = object.metadata;
    const id = idOf(type, namespace, name);
    if (this.#objects.has(id)) throw new ApiError('create', 409, 'AlreadyExists', `${id} already exists`);
    const resourceVersion = this.#next();
    const stored = {
      ...object,
      metadata: {
        uid: `uid-${resourceVersion}`,
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...object.metadata,
        resourceVersion,
      },
    };
    this.#objects.set(id, stored);
    return stored;
  }

  #require(type: ResourceType, { namespace, name }: ObjectName): KubernetesObject {
    const object = this.#objects.get(idOf(type, namespace, name));
    if (!object) throw new ApiError('request', 404, 'NotFound', `no ${type.kind} ${name}`);
    return object;
  }

  #next(): string {
    return String(++this.#version);
  }

  #answer<R>(work: () => R): Promise<R> {
    const { failure } = this;
    this.failure = undefined;
    return new Promise((resolve) => {
      if (failure) throw failure;
      resolve(work());
    });
  }
}

function idOf(type: ResourceType, namespace: string | undefined, name: string): string {
  return `${type.kind}:${objectKey(namespace, name)}`;
}

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  const merged = Object.entries(patch).map(([key, value]) => [key, merge(base[key], value)] as const);
  const all = { ...base, ...Object.fromEntries(merged) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
