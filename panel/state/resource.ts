import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '../api/client.ts';
import { asRequestError, type RequestError } from '../api/errors.ts';

/** The last event of the stream of changes: an answer to a list contains at least what the stream had sent until then. */
export const eventPosition = { lastEventId: '' };

const lists = /^\/api\/(overview|repository\/[^/]+\/environments)\b/;

function withPosition(path: string): string {
  const { lastEventId } = eventPosition;
  if (lastEventId === '' || !lists.test(path)) return path;
  return `${path}${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(lastEventId)}`;
}

const retrySeconds = 5;

/** What is known of a path of the API, and how it is read. */
export class Resource<T> {
  readonly path: string;
  readonly data: Signal<T | undefined> = signal(undefined);
  readonly error: Signal<RequestError | undefined> = signal(undefined);
  #loading: Promise<void> | undefined;
  #isStale = true;
  #again = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Number of components that show it. */
  users = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads it, unless it is being read or is known to be current. */
  ensure(): void {
    if (this.#isStale) void this.reload();
  }

  /** Reads it again. A call during a read causes one more, because that read may have missed the change. */
  reload(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return this.#loading;
    }
    this.#loading = this.#read().finally(() => {
      this.#loading = undefined;
      if (!this.#again) return;
      this.#again = false;
      void this.reload();
    });
    return this.#loading;
  }

  /** Replaces the data by what a write or an event has returned. */
  set(data: T): void {
    this.data.value = data;
    this.error.value = undefined;
  }

  /** Marks it as possibly changed: it is read again when it is shown. */
  invalidate(): void {
    this.#isStale = true;
    if (this.users > 0) void this.reload();
  }

  /** Tries again what can succeed without the user: a server that restarts, or a limit that passes. */
  #retryLater({ status, retryAfter = retrySeconds }: RequestError): void {
    if (status !== 0 && status !== 429 && status < 500) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.users > 0) void this.reload();
    }, retryAfter * 1000);
  }

  async #read(): Promise<void> {
    try {
      const data = await send<T>('GET', withPosition(this.path));
      this.set(data);
      this.#isStale = false;
    } catch (thrown) {
      // The data of the last successful read stays visible beside the error.
      const error = asRequestError(thrown);
      this.error.value = error;
      this.#retryLater(error);
    }
  }
}

const maxKept = 100;
const resources = new Map<string, Resource<unknown>>();

/** Returns what is known of a path. All components that name the same path share it. */
export function resourceOf<T>(path: string): Resource<T> {
  // A path determines the type of its answer; its callers name the type that the endpoint declares.
  const known = resources.get(path) as Resource<T> | undefined;
  if (known) return known;
  const made = new Resource<T>(path);
  resources.set(path, made);
  if (resources.size > maxKept) dropUnused();
  return made;
}

function dropUnused(): void {
  for (const [path, { users }] of resources) {
    if (resources.size <= maxKept / 2) return;
    if (users === 0) resources.delete(path);
  }
}

/** Reads a path while the component is shown. */
export function useResource<T>(path: string): Resource<T> {
  const resource = resourceOf<T>(path);
  useEffect(() => {
    resource.users += 1;
    resource.ensure();
    return () => {
      resource.users -= 1;
      // While nobody shows it, its changes are not followed.
      if (resource.users === 0) resource.invalidate();
    };
  }, [resource]);
  return resource;
}

/** Marks everything as possibly changed that the function selects by its path. */
export function invalidateWhere(isAffected: (path: string) => boolean): void {
  for (const resource of resources.values()) if (isAffected(resource.path)) resource.invalidate();
}

/** Forgets everything, for another user. */
export function forgetAll(): void {
  for (const [path, { users }] of resources) {
    if (users === 0) resources.delete(path);
  }
  for (const resource of resources.values()) {
    resource.data.value = undefined;
    resource.invalidate();
  }
}
