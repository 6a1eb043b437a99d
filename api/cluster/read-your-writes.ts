import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { callerOf } from '../auth/caller.ts';
import type { ClusterWriter } from './caches.ts';
import type { AnyFreshCache } from './fresh-cache.ts';
import type { WrittenVersions } from './written-versions.ts';

/**
 * What a user has just written they read at once, at every replica: each write notes its resource version for the user,
 * and each request of theirs waits until this replica has seen it (ADR 28).
 */
export class ReadYourWrites {
  readonly #written: WrittenVersions;
  readonly #caches: ReadonlyMap<string, AnyFreshCache>;
  readonly #user = new AsyncLocalStorage<string>();

  /** @param caches by kind; what is written of other kinds is not read from a cache. */
  constructor(written: WrittenVersions, caches: ReadonlyMap<string, AnyFreshCache>) {
    this.#written = written;
    this.#caches = caches;
  }

  /** What every request passes once it is known whose it is. */
  middleware(): RequestHandler {
    return async (_request, response, next) => {
      const { name } = callerOf(response).user;
      await this.#catchUp(name);
      this.#user.run(name, next);
    };
  }

  /** Does work in the name of a user who is not logged in yet: their registration. It reads what they have written. */
  async as<T>(userName: string, work: () => Promise<T>): Promise<T> {
    await this.#catchUp(userName);
    return this.#user.run(userName, work);
  }

  /** The cluster, with every write noted for the user whose request it is. */
  writer(cluster: ClusterWriter): ClusterWriter {
    const noted = async <T extends KubernetesObject>(written: T): Promise<T> => {
      await this.#note(written.kind, written.metadata.resourceVersion);
      return written;
    };
    return {
      find: (type, at, options) => cluster.find(type, at, options),
      create: async (type, object, options) => noted(await cluster.create(type, object, options)),
      patch: async (type, at, patch, options) => noted(await cluster.patch(type, at, patch, options)),
      delete: async (type, at, options) => {
        await cluster.delete(type, at, options);
        const cache = this.#caches.get(type.kind);
        if (!cache) return;
        // The API server does not say at which version a deletion was: this replica's cache has it once it shows it.
        await cache.withoutDeleted(objectKey(at.namespace, at.name), options?.uid);
        await this.#note(type.kind, cache.resourceVersion);
      },
    };
  }

  async #note(kind: string, resourceVersion: string | undefined): Promise<void> {
    const user = this.#user.getStore();
    if (user === undefined || resourceVersion === undefined || !this.#caches.has(kind)) return;
    await this.#written.note(user, kind, resourceVersion);
  }

  async #catchUp(user: string): Promise<void> {
    const versions = await this.#written.of(user);
    const catchUp = async ({ kind, resourceVersion }: (typeof versions)[number]) =>
      this.#caches.get(kind)?.upTo(resourceVersion);
    await Promise.all(versions.map(catchUp));
  }
}
