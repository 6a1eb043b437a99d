import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import { keyOf, objectKey, type KubernetesObject } from '../../../../kubernetes/resource-type.ts';
import type { FakeClock } from '../../../../kubernetes/testing/fake-clock.ts';

interface ObjectReference {
  name: string;
  namespace?: string | undefined;
}

type Handler<T> = (object: T, old: T | undefined) => void;

/**
 * The objects of one kind as an API server stores them, and a cache of them that lags behind, as an informer's does.
 */
export class FakeKind<T extends KubernetesObject> {
  readonly #clock: FakeClock;
  readonly #lagMs: number;
  /** How long the deletion of an object without finalizers takes: a namespace is emptied first. */
  goesMs: number;
  readonly #there = new Map<string, T>();
  readonly #cached = new Map<string, T>();
  readonly #handlers: Handler<T>[] = [];
  #revision = 0;

  constructor(clock: FakeClock, { lagMs = 0, goesMs = 0 }: { lagMs?: number; goesMs?: number } = {}) {
    this.#clock = clock;
    this.#lagMs = lagMs;
    this.goesMs = goesMs;
  }

  list(): T[] {
    return [...this.#there.values()];
  }

  read({ name, namespace }: ObjectReference): T | undefined {
    return structuredClone(this.#there.get(objectKey(namespace, name)));
  }

  create(object: T): T {
    if (this.#there.has(keyOf(object))) throw new ApiError('POST', 409, 'AlreadyExists', keyOf(object));
    const uid = `uid-${this.#clock.now()}-${++this.#revision}`;
    const creationTimestamp = new Date(this.#clock.now()).toISOString();
    return this.#set({ ...object, metadata: { ...object.metadata, uid, generation: 1, creationTimestamp } });
  }

  /** A change of `spec` increments the generation; a deleted object is removed with its last finalizer. */
  change(reference: ObjectReference, change: (object: T) => void): T {
    const held = this.read(reference);
    if (!held) throw new ApiError('PATCH', 404, 'NotFound', reference.name);
    const before = JSON.stringify((held as { spec?: unknown }).spec);
    change(held);
    const { metadata } = held;
    if (before !== JSON.stringify((held as { spec?: unknown }).spec))
      metadata.generation = (metadata.generation ?? 0) + 1;
    const written = this.#set(held);
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0) this.#remove(held);
    return written;
  }

  delete(reference: ObjectReference, uid?: string): void {
    const held = this.read(reference);
    if (!held) throw new ApiError('DELETE', 404, 'NotFound', reference.name);
    if (uid !== undefined && uid !== held.metadata.uid) throw new ApiError('DELETE', 409, 'Conflict', reference.name);
    if (held.metadata.deletionTimestamp !== undefined) return;
    held.metadata.deletionTimestamp = new Date(this.#clock.now()).toISOString();
    this.#set(held);
    if ((held.metadata.finalizers ?? []).length > 0) return;
    if (this.goesMs > 0) this.#clock.setTimeout(() => this.#remove(held), this.goesMs);
    else this.#remove(held);
  }

  /** Like an informer: the cached objects and those that this process wrote itself. */
  readonly cache = {
    get: (key: string) => this.#cached.get(key),
    all: () => [...this.#cached.values()],
    observe: (object: T) => this.#seen(structuredClone(object)),
  };

  addHandler(handler: Handler<T>): void {
    this.#handlers.push(handler);
  }

  #set(object: T): T {
    object.metadata.resourceVersion = String(++this.#revision);
    this.#there.set(keyOf(object), object);
    const seen = structuredClone(object);
    this.#clock.setTimeout(() => this.#seen(seen), this.#lagMs);
    return structuredClone(object);
  }

  #seen(object: T): void {
    const old = this.#cached.get(keyOf(object));
    const isOlder = Number(old?.metadata.resourceVersion ?? 0) >= Number(object.metadata.resourceVersion);
    const isGone = old === undefined && !this.#there.has(keyOf(object));
    if (isOlder || isGone) return;
    this.#cached.set(keyOf(object), object);
    for (const handle of this.#handlers) handle(object, old);
  }

  #remove(object: T): void {
    const key = keyOf(object);
    if (this.#there.get(key)?.metadata.uid !== object.metadata.uid) return;
    this.#there.delete(key);
    this.#clock.setTimeout(() => {
      if (this.#cached.get(key)?.metadata.uid !== object.metadata.uid) return;
      this.#cached.delete(key);
      for (const handle of this.#handlers) handle(object, undefined);
    }, this.#lagMs);
  }
}

/** A fake ClusterClient, as far as an Environment's lifecycle needs it; every call takes time. */
export function fakeClient(
  environments: FakeKind<Environment>,
  namespaces: FakeKind<KubernetesObject>,
  moment: () => Promise<void>,
) {
  const of = ({ kind }: { kind: string }) =>
    (kind === 'Environment' ? environments : namespaces) as FakeKind<KubernetesObject>;
  return {
    async find(type: { kind: string }, reference: ObjectReference) {
      await moment();
      return of(type).read(reference);
    },
    async get(type: { kind: string }, reference: ObjectReference) {
      await moment();
      return of(type).read(reference);
    },
    async create(type: { kind: string }, object: KubernetesObject) {
      await moment();
      return of(type).create(object);
    },
    async delete(type: { kind: string }, reference: ObjectReference, { uid }: { uid?: string } = {}) {
      await moment();
      of(type).delete(reference, uid);
    },
    async patch(
      type: { kind: string },
      reference: ObjectReference,
      { metadata: { annotations = {}, finalizers, uid } }: Pick<KubernetesObject, 'metadata'>,
      { resourceVersion }: { resourceVersion?: string } = {},
    ) {
      await moment();
      return of(type).change(reference, ({ metadata }) => {
        const isOther = uid !== undefined && uid !== metadata.uid;
        const isNewer = resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion;
        if (isOther || isNewer) throw new ApiError('PATCH', 409, 'Conflict', reference.name);
        metadata.annotations = { ...metadata.annotations, ...annotations };
        if (finalizers) metadata.finalizers = finalizers;
      });
    },
    async applyStatus(
      _type: object,
      { metadata, status }: { metadata: ObjectReference & { uid?: string }; status: EnvironmentStatus },
    ) {
      await moment();
      return environments.change(metadata, (object) => {
        if (object.metadata.uid !== metadata.uid) throw new ApiError('PATCH', 409, 'Conflict', metadata.name);
        object.status = structuredClone(status);
      });
    },
  };
}
