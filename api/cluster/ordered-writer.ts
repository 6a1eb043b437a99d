import { ApiError } from '../../kubernetes/api-error.ts';
import type { PatchOptions } from '../../kubernetes/client-options.ts';
import {
  objectKey,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import type { ClusterRequests, ClusterWriter } from './caches.ts';
import { composePatches, type MergePatch } from './merge-patch.ts';
import { ObjectQueue, type Job } from './object-queue.ts';

type Write = (patch: MergePatch) => Promise<KubernetesObject>;

/** Counts writes that are refused because too many wait for one object. */
interface RefusedWrites {
  refused(limit: 'writes'): void;
}

const unmeasured: RefusedWrites = { refused: () => undefined };

/**
 * Returns the cluster with at most one write in flight for each object. The API server repeats conflicting merge patches
 * of one object, each up to 20 times, so that a few clients of one object would slow everybody down. Patches that
 * depend on no version and wait for the same object are composed into one; all their callers get what was written.
 */
export function orderedWriter(cluster: ClusterRequests, metrics: RefusedWrites = unmeasured): ClusterWriter {
  const onRefused = () => metrics.refused('writes');
  const writes = new ObjectQueue(onRefused);
  const updates = new ObjectQueue(onRefused);
  return {
    find: (type, at, options) => cluster.find(type, at, options),
    create: (type, object, options) => cluster.create(type, object, options),
    delete: (type, at, options) => writes.run(idOf(type, at), () => cluster.delete(type, at, options)),
    async patch<T extends KubernetesObject>(
      type: ResourceType<T>,
      at: ObjectName,
      patch: MergePatch,
      options?: PatchOptions,
    ): Promise<T> {
      const id = idOf(type, at);
      if (options) return writes.run(id, () => cluster.patch<T>(type, at, patch, options));
      // Everything that waits under this ID is of this type.
      return (await joined(writes, id, patch, (composed) => cluster.patch(type, at, composed))) as T;
    },
    exclusively: (type, at, work) => updates.run(idOf(type, at), work),
  };
}

async function joined(queue: ObjectQueue, id: string, patch: MergePatch, write: Write): Promise<KubernetesObject> {
  const last = queue.last(id);
  if (last instanceof PatchBatch && last.takes(patch)) {
    queue.requireRoom(id);
    return last.add(patch);
  }
  const batch = new PatchBatch(write);
  const written = batch.add(patch);
  queue.add(id, batch);
  return written;
}

/** Patches of one object that are written as one. */
class PatchBatch implements Job {
  readonly #write: Write;
  readonly #options: { patch: MergePatch; result: PromiseWithResolvers<KubernetesObject> }[] = [];
  #composed: MergePatch | undefined;

  constructor(write: Write) {
    this.#write = write;
  }

  get callers(): number {
    return this.#options.length;
  }

  /** Another UID is another object of the same name. */
  takes(patch: MergePatch): boolean {
    const isSame = this.#composed?.metadata?.uid === patch.metadata?.uid;
    return isSame && composePatches(this.#composed ?? {}, patch) !== undefined;
  }

  /** Resolves with the written object. */
  add(patch: MergePatch): Promise<KubernetesObject> {
    const result = Promise.withResolvers<KubernetesObject>();
    this.#composed = composePatches(this.#composed ?? {}, patch);
    this.#options.push({ patch, result });
    return result.promise;
  }

  async start(): Promise<void> {
    try {
      const written = await this.#write(this.#composed ?? {});
      for (const { result } of this.#options) result.resolve(written);
    } catch (error) {
      // A fault of one patch must not affect the others.
      if (this.callers > 1 && isRefusal(error)) await this.#writeEach();
      else for (const { result } of this.#options) result.reject(error);
    }
  }

  async #writeEach(): Promise<void> {
    for (const { patch, result } of this.#options) await this.#write(patch).then(result.resolve, result.reject);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code < 500 && error.code !== 429;
}

function idOf({ group, kind }: ResourceType, { namespace, name }: ObjectName): string {
  return `${group}/${kind} ${objectKey(namespace, name)}`;
}
