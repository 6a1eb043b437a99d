import { apiErrorFrom, isConflict, isNotFound } from './api-error.ts';
import { sleep, systemClock } from './clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { continueTokenIn } from './continue-token.ts';
import { DEFAULT_TIMEOUT_MS, HttpTransport, type HttpRequest } from './http-transport.ts';
import { streamLines } from './line-stream.ts';
import { resourcePath, type PathSegments } from './resource-path.ts';
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
  WriteOptions,
} from './client-options.ts';

const watchGraceMs = 30_000;
const maxLogLine = 1024 * 1024;
/** Delays between attempts of a write that conflicts with other writes, in milliseconds. */
const conflictWaitsMs = [10, 50, 250];

/**
 * Sends typed requests to one API server. Paths follow from the ResourceType, without discovery. Every method throws
 * ApiError when the API server refuses, UnreachableError when it does not respond in time, and the signal's reason. A
 * write that depends on no version is retried on a Conflict, which then only means that others wrote at the same time:
 * the API server itself gives up after five attempts.
 */
export class ClusterClient {
  readonly #transport: HttpTransport;

  constructor(config: ClusterConnection, { userAgent = 'kubernetes-runtime', observe }: ClientOptions = {}) {
    this.#transport = new HttpTransport(config, userAgent, observe);
  }

  async get<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName, options?: RequestOptions): Promise<T> {
    return (await this.#request('GET', type, at, options)) as T;
  }

  /** Like get(), but returns undefined if the object does not exist. */
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

  /** Lists one page, or all objects without a limit. */
  async list<T extends KubernetesObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const {
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      limit,
      maxBytes,
      continue: token,
      onContinue,
      ...rest
    } = options;
    const onText = (text: string) => {
      const next = continueTokenIn(text);
      if (next !== undefined) onContinue?.(next);
    };
    const answer = (await this.#request('GET', type, { namespace }, rest, {
      query: { labelSelector, fieldSelector, limit, continue: token },
      accept: metadataOnly ? metadataOf('PartialObjectMetadataList') : undefined,
      maxBytes,
      onText: onContinue && onText,
    })) as { items: T[] | null; metadata: { resourceVersion: string; continue?: string } };
    const { resourceVersion, continue: next } = answer.metadata;
    // The API server omits both in the items of lists of built-in kinds.
    const items = (answer.items ?? []).map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
    return { items, resourceVersion, continue: next === '' ? undefined : next };
  }

  async create<T extends KubernetesObject>(
    type: ResourceType<T>,
    object: T,
    { fieldManager, ...options }: WriteOptions = {},
  ): Promise<T> {
    const { namespace } = object.metadata;
    const create = () => this.#request('POST', type, { namespace }, options, { query: { fieldManager }, body: object });
    return (await throughConflicts(create, options.signal)) as T;
  }

  /**
   * Replaces an object as a whole, except for its status: fields that the given object does not name are removed or get
   * their defaults, whoever set them. Without a resource version only for built-in kinds, of which the last write wins.
   * Throws NotFound if the object does not exist.
   */
  async replace<T extends KubernetesObject>(
    type: ResourceType<T>,
    object: T,
    { fieldManager, ...options }: WriteOptions = {},
  ): Promise<T> {
    const { namespace, name } = object.metadata;
    const replace = () =>
      this.#request('PUT', type, { namespace, name }, options, { query: { fieldManager }, body: object });
    return (await throughConflicts(replace, options.signal)) as T;
  }

  /**
   * Applies an object with server-side apply: creates it, or sets the fields that this manager owns and removes those
   * that it no longer names.
   */
  async apply<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    return this.#apply(type, object, options);
  }

  /** Applies the status subresource with server-side apply; the object must exist. */
  async applyStatus<T extends KubernetesObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    return this.#apply(type, object, options, 'status');
  }

  /**
   * Sends a JSON merge patch (RFC 7386) for everything except the status: null removes a field, and a list is replaced
   * as a whole.
   */
  async patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: object,
    options?: PatchOptions,
  ): Promise<T> {
    return this.#patch(type, at, patch, options);
  }

  /** Sends a JSON merge patch of the status subresource: `{ status: { … } }`. */
  async patchStatus<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: object,
    options?: PatchOptions,
  ): Promise<T> {
    return this.#patch(type, at, patch, options, 'status');
  }

  /**
   * Starts the deletion, which finalizers and grace periods can delay. Throws NotFound if the object does not exist,
   * Conflict if a precondition does not hold.
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
   * Yields events after `resourceVersion`, including bookmarks; ends when the API server ends the watch or the signal
   * is aborted.
   * @throws ApiError also for an ERROR event (410 Gone), SyntaxError for an event that is not JSON
   */
  async *watch<T extends KubernetesObject>(
    type: ResourceType<T>,
    { namespace, signal, timeoutSeconds, metadataOnly, ...query }: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const path = resourcePath(type, { namespace });
    const lines = streamLines(this.#transport, path, {
      query: { ...query, timeoutSeconds, watch: true, allowWatchBookmarks: true },
      accept: metadataOnly ? metadataOf('PartialObjectMetadata') : undefined,
      totalMs: timeoutSeconds * 1000 + watchGraceMs,
      signal,
    });
    for await (const line of lines) {
      const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: unknown };
      if (event.type === 'ERROR') throw apiErrorFrom(`watch ${path}`, 500, event.object);
      yield event;
    }
  }

  /** Yields a container's log by lines without newlines; a line over 1 MiB is split. */
  podLog(
    at: ObjectName,
    { signal, idleTimeoutMs, wholeLinesOnly, ...query }: PodLogOptions = {},
  ): AsyncGenerator<string> {
    const path = resourcePath(Pod, { ...at, subresource: 'log' });
    const lines = { maxLineBytes: maxLogLine, wholeLinesOnly };
    return streamLines(this.#transport, path, { query: { ...query }, signal, idleMs: idleTimeoutMs, ...lines });
  }

  /** Returns whether the API server reports that it is ready. */
  async isReady(options: RequestOptions = {}): Promise<boolean> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
    return (await this.#transport.request({ method: 'GET', path: '/readyz', timeoutMs, signal })) === 'ok';
  }

  /** Returns the answer at a path of discovery, such as `/version` or `/apis/metrics.k8s.io/v1beta1`. */
  discover(path: string, { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: RequestOptions = {}): Promise<unknown> {
    return this.#transport.request({ method: 'GET', path, timeoutMs, signal });
  }

  /** Closes idle connections. */
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
    const apply = () =>
      this.#request('PATCH', type, { namespace, name, subresource }, options, {
        query: { fieldManager, force },
        contentType: 'application/apply-patch+yaml',
        body: { ...object, apiVersion: apiVersionOf(type), kind: type.kind },
      });
    // Without force, a Conflict concerns fields of another manager and is not retried.
    return (await (force ? throughConflicts(apply, options.signal) : apply())) as T;
  }

  async #patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    at: ObjectName,
    patch: { metadata?: object },
    { resourceVersion, ...options }: PatchOptions = {},
    subresource?: 'status',
  ): Promise<T> {
    const metadata = { ...patch.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
    const write = () =>
      this.#request('PATCH', type, { ...at, subresource }, options, {
        contentType: 'application/merge-patch+json',
        body: { ...patch, metadata },
      });
    return (await (resourceVersion === undefined ? throughConflicts(write, options.signal) : write())) as T;
  }

  async #request(
    method: HttpRequest['method'],
    type: ResourceType,
    at: PathSegments,
    { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: RequestOptions = {},
    rest: Pick<HttpRequest, 'query' | 'body' | 'contentType' | 'accept' | 'maxBytes' | 'onText'> = {},
  ): Promise<unknown> {
    return this.#transport.request({ method, path: resourcePath(type, at), timeoutMs, signal, ...rest });
  }
}

/** Returns the Accept header that requests only metadata. */
function metadataOf(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};v=v1;g=meta.k8s.io`;
}

async function throughConflicts(write: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  for (const waitMs of conflictWaitsMs) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    await sleep(systemClock, waitMs, signal);
  }
  return write();
}
