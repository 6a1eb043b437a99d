import type { IncomingMessage } from 'node:http';
import type { KubeConfig } from '@kubernetes/client-node';
import { apiErrorFrom, isNotFound, UnreachableError } from './api-error.ts';
import { HttpTransport, type HttpRequest } from './http-transport.ts';
import { readLines } from './lines.ts';
import { resourcePath, type PathParts } from './resource-path.ts';
import { apiVersionOf, Pod, type KubernetesObject, type ObjectName, type ResourceType } from './resource-type.ts';

import type {
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ObjectList,
  PatchOptions,
  PodLogOptions,
  RequestOptions,
  WatchEvent,
  WatchOptions,
} from './client-options.ts';

const defaultTimeoutMs = 30_000;
const watchGraceMs = 30_000;
const longestLogLine = 1024 * 1024;

/**
 * Typed requests to one API server. Paths come from the ResourceType, without discovery. Every method throws ApiError
 * when the API server refuses, UnreachableError when it does not answer in time, and the signal's reason.
 */
export class ClusterClient {
  readonly #transport: HttpTransport;

  constructor(config: KubeConfig, { userAgent = 'kubernetes-runtime', observe }: ClientOptions = {}) {
    this.#transport = new HttpTransport(config, userAgent, observe);
  }

  async get<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName, options?: RequestOptions): Promise<T> {
    return (await this.#request('GET', type, at, options)) as T;
  }

  /** As get(), but undefined where there is none. */
  async find<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    try {
      return await this.get(type, at, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** One page, or everything when no limit is given. */
  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, labelSelector, fieldSelector, limit, continue: token, ...rest } = options;
    const answer = (await this.#request('GET', type, { namespace }, rest, {
      query: { labelSelector, fieldSelector, limit, continue: token },
    })) as { items: T[] | null; metadata: { resourceVersion: string; continue?: string } };
    const { resourceVersion, continue: next } = answer.metadata;
    // The API server leaves both out of a list's items, of built-in kinds.
    const items = (answer.items ?? []).map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
    return { items, resourceVersion, continue: next === '' ? undefined : next };
  }

  async create<T extends KubernetesObject>(type: ResourceType<T>, object: T, options?: RequestOptions): Promise<T> {
    const { namespace } = object.metadata;
    return (await this.#request('POST', type, { namespace }, options, { body: object })) as T;
  }

  /** Server-side apply: creates the object, or makes its fields that this manager names, or named before, so. */
  async apply<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    return this.#apply(type, object, options);
  }

  /** Server-side apply of the status subresource; the object must exist. */
  async applyStatus<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    return this.#apply(type, object, options, 'status');
  }

  /** JSON merge patch (RFC 7386) of anything but the status: null removes a field, a list is replaced whole. */
  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: object,
    options?: PatchOptions,
  ): Promise<T> {
    return this.#patch(type, at, patch, options);
  }

  /** JSON merge patch of the status subresource: `{ status: { … } }`. */
  async patchStatus<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: object,
    options?: PatchOptions,
  ): Promise<T> {
    return this.#patch(type, at, patch, options, 'status');
  }

  /**
   * Starts the deletion, which finalizers and grace periods may put off. NotFound when there is none, Conflict when a
   * precondition does not hold.
   */
  async delete<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    { uid, resourceVersion, propagationPolicy = 'Background', gracePeriodSeconds, ...options }: DeleteOptions = {},
  ): Promise<void> {
    const preconditions = { uid, resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, gracePeriodSeconds, preconditions };
    await this.#request('DELETE', type, at, options, { body });
  }

  /**
   * Events after `resourceVersion`, bookmarks among them; ends when the API server ends it or the signal is aborted.
   * @throws ApiError for the ERROR event too (410 Gone), SyntaxError for an event that is no JSON.
   */
  async *watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    { namespace, signal, timeoutSeconds, ...query }: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const path = resourcePath(type, { namespace });
    const lines = this.#lines(path, {
      query: { ...query, timeoutSeconds, watch: true, allowWatchBookmarks: true },
      totalMs: timeoutSeconds * 1000 + watchGraceMs,
      signal,
    });
    for await (const line of lines) {
      const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: unknown };
      if (event.type === 'ERROR') throw apiErrorFrom(`watch ${path}`, 500, event.object);
      yield event;
    }
  }

  /** A container's log, line by line, without newlines; a line over 1 MiB comes in pieces. */
  podLog(at: ObjectName, { signal, idleTimeoutMs, ...query }: PodLogOptions = {}): AsyncGenerator<string> {
    const path = resourcePath(Pod, { ...at, subresource: 'log' });
    return this.#lines(path, { query: { ...query }, signal, idleMs: idleTimeoutMs, maxLineBytes: longestLogLine });
  }

  /** Whether the API server answers that it is ready. */
  async isReady(options: RequestOptions = {}): Promise<boolean> {
    const { timeoutMs = defaultTimeoutMs, signal } = options;
    return (await this.#transport.request({ method: 'GET', path: '/readyz', timeoutMs, signal })) === 'ok';
  }

  /** Closes the kept connections. */
  close(): void {
    this.#transport.close();
  }

  async #apply<T extends KubernetesObject>(
    type: ResourceType<T>,
    object: T,
    { fieldManager, force = false, ...options }: ApplyOptions,
    subresource?: 'status',
  ): Promise<T> {
    const { namespace, name } = object.metadata;
    return (await this.#request('PATCH', type, { namespace, name, subresource }, options, {
      query: { fieldManager, force },
      contentType: 'application/apply-patch+yaml',
      body: { ...object, apiVersion: apiVersionOf(type), kind: type.kind },
    })) as T;
  }

  async #patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: { metadata?: object },
    { resourceVersion, ...options }: PatchOptions = {},
    subresource?: 'status',
  ): Promise<T> {
    const metadata = { ...patch.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
    return (await this.#request('PATCH', type, { ...at, subresource }, options, {
      contentType: 'application/merge-patch+json',
      body: { ...patch, metadata },
    })) as T;
  }

  async #request(
    method: HttpRequest['method'],
    type: ResourceType,
    at: PathParts,
    { timeoutMs = defaultTimeoutMs, signal }: RequestOptions = {},
    rest: Pick<HttpRequest, 'query' | 'body' | 'contentType'> = {},
  ): Promise<unknown> {
    return this.#transport.request({ method, path: resourcePath(type, at), timeoutMs, signal, ...rest });
  }

  async *#lines(path: string, { query, signal, totalMs, idleMs, maxLineBytes }: StreamOptions): AsyncGenerator<string> {
    if (signal?.aborted) return;
    const response = await this.#transport
      .stream({ method: 'GET', path, query, timeoutMs: defaultTimeoutMs, signal })
      .catch((error: unknown) => {
        if (signal?.aborted) return undefined;
        throw error;
      });
    if (!response) return;
    const total = totalMs === undefined ? undefined : setTimeout(() => response.destroy(endless(totalMs)), totalMs);
    try {
      yield* readLines(idleMs === undefined ? response : untilSilent(response, idleMs), maxLineBytes);
    } catch (error) {
      if (signal?.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      throw new UnreachableError(`GET ${path}: the stream broke: ${why}`, { cause: error });
    } finally {
      clearTimeout(total);
      response.destroy();
    }
  }
}

interface StreamOptions {
  query: NonNullable<HttpRequest['query']>;
  signal?: AbortSignal | undefined;
  totalMs?: number | undefined;
  idleMs?: number | undefined;
  maxLineBytes?: number | undefined;
}

function endless(ms: number): Error {
  return new Error(`it did not end within ${ms / 1000} s`);
}

/** Fails when no chunk comes for `ms`; a reader that takes its time with one is not silence. */
async function* untilSilent(response: IncomingMessage, ms: number): AsyncGenerator<Buffer> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    const timer = setTimeout(() => response.destroy(new Error(`silent for ${ms / 1000} s`)), ms);
    const next = await chunks.next().finally(() => clearTimeout(timer));
    if (next.done) return;
    yield next.value;
  }
}
