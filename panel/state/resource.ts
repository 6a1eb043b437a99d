import { signal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { send } from '../api/client.ts';
import { asRequestError, type RequestError } from '../api/errors.ts';

/** The last event of the change stream: the answer to a list contains at least the changes up to it. */
export const eventPosition = { lastEventId: '' };

const lists = /^\/api\/(overview|repository\/[^/]+\/environments)\b/;

function withPosition(path: string): string {
  const { lastEventId } = eventPosition;
  if (lastEventId === '' || !lists.test(path)) return path;
  return `${path}${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(lastEventId)}`;
}

const retrySeconds = 5;

/** The cached data of a path of the API, and its requests. */
export class Resource<T> {
  readonly path: string;
  readonly data: Signal<T | undefined> = signal(undefined);
  readonly error: Signal<RequestError | undefined> = signal(undefined);
  /** Whether nothing has marked the data as possibly changed since its read was started. */
  readonly isCurrent: Signal<boolean> = signal(false);
  #loading: Promise<void> | undefined;
  /** Number of times that the data was marked as possibly changed, now and at the start of the last read. */
  #marks = 0;
  #marksAtRead = 0;
  #again = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Number of components that show it. */
  users = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads the path, unless a read is in progress or the data is current. */
  ensure(): void {
    const isBeingRead = this.#loading !== undefined && this.#marksAtRead === this.#marks;
    if (!this.isCurrent.peek() && !isBeingRead) void this.reload();
  }

  /** Reads the path again. A call during a read causes another read, because that one may have missed the change. */
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

  /** Replaces the data by the result of a write or an event. */
  set(data: T): void {
    this.data.value = data;
    this.error.value = undefined;
  }

  /** Marks the data as possibly changed: it is read again when it is shown. */
  invalidate(): void {
    this.#marks += 1;
    this.isCurrent.value = false;
    if (this.users > 0) void this.reload();
  }

  /** Retries after errors that end without the user: a restarting server, or a rate limit. */
  #retryLater({ status, retryAfter = retrySeconds }: RequestError): void {
    if (status !== 0 && status !== 429 && status < 500) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.users > 0) void this.reload();
    }, retryAfter * 1000);
  }

  async #read(): Promise<void> {
    this.#marksAtRead = this.#marks;
    try {
      const data = await send<T>('GET', withPosition(this.path));
      this.set(data);
      this.isCurrent.value = this.#marksAtRead === this.#marks;
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

/** Returns the resource of a path. All components that name the same path share it. */
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
      // While no component shows it, its changes are not followed.
      if (resource.users === 0) resource.invalidate();
    };
  }, [resource]);
  return resource;
}

/**
 * Returns the data that a form starts with: undefined until it was read since the component is shown, because a form
 * would overwrite what others have changed since an older read.
 */
export function useDataToEdit<T>(resource: Resource<T>): T | undefined {
  const isMarked = useRef(false);
  const isRead = useRef(false);
  useLayoutEffect(() => {
    resource.invalidate();
    isMarked.current = true;
  }, [resource]);
  if (resource.isCurrent.value && isMarked.current) isRead.current = true;
  return isRead.current ? resource.data.value : undefined;
}

/** Marks the data of each path that the function selects as possibly changed. */
export function invalidateWhere(isAffected: (path: string) => boolean): void {
  for (const resource of resources.values()) if (isAffected(resource.path)) resource.invalidate();
}

/** Deletes all data, for another user. */
export function forgetAll(): void {
  for (const [path, { users }] of resources) {
    if (users === 0) resources.delete(path);
  }
  for (const resource of resources.values()) {
    resource.data.value = undefined;
    resource.invalidate();
  }
}
