import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { callerOf } from '../auth/caller.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import type { AnyFreshCache } from '../cluster/fresh-cache.ts';
import type { WrittenVersions } from '../cluster/written-versions.ts';

/**
 * Lets users read their own writes immediately at every replica: each write records its resource version for the user,
 * and each of their requests waits until this replica has seen it (ADR 28).
 */
export class ReadYourWrites {
  readonly #written: WrittenVersions;
  readonly #caches: ReadonlyMap<string, AnyFreshCache>;
  readonly #kindOf: (object: KubernetesObject) => string;
  readonly #user = new AsyncLocalStorage<string>();

  /**
   * @param caches by kind; other kinds are not read from caches.
   * @param kindOf returns the kind by which the cache of a written object is found
   */
  constructor(
    written: WrittenVersions,
    caches: ReadonlyMap<string, AnyFreshCache>,
    kindOf: (object: KubernetesObject) => string = ({ kind }) => kind,
  ) {
    this.#written = written;
    this.#caches = caches;
    this.#kindOf = kindOf;
  }

  /** Returns the middleware that every authenticated request passes. */
  middleware(): RequestHandler {
    return async (_request, response, next) => {
      const { name } = callerOf(response).user;
      await this.#catchUp(name);
      this.#user.run(name, next);
    };
  }

  /** Runs work for a user who is not logged in yet, such as a registration. */
  async as<T>(userName: string, work: () => Promise<T>): Promise<T> {
    await this.#catchUp(userName);
    return this.#user.run(userName, work);
  }

  /** Returns a writer that records every write for the user of the request. */
  writer(cluster: ClusterWriter): ClusterWriter {
    const noted = async <T extends KubernetesObject>(written: T): Promise<T> => {
      await this.#note(this.#kindOf(written), written.metadata.resourceVersion);
      return written;
    };
    return {
      exclusively: (type, at, work) => cluster.exclusively(type, at, work),
      find: (type, at, options) => cluster.find(type, at, options),
      create: async (type, object, options) => noted(await cluster.create(type, object, options)),
      patch: async (type, at, patch, options) => noted(await cluster.patch(type, at, patch, options)),
      delete: async (type, at, options) => {
        await cluster.delete(type, at, options);
        const cache = this.#caches.get(type.kind);
        if (!cache) return;
        // The API server does not return the version of a deletion: it is visible once this replica's cache shows it.
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
