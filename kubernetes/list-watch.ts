import type { ObjectList, Selection, WatchEvent } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import { isGone } from './api-error.ts';
import type { KubernetesObject, ResourceType } from './resource-type.ts';

/** The source of an informer's objects; tests pass a fake. */
export interface ListWatch<T> {
  /** Calls `onContinue`, if it can, with the token for the next page before it has read this one completely. */
  list(options: {
    limit?: number;
    continue?: string;
    signal: AbortSignal;
    onContinue?: (token: string) => void;
  }): Promise<ObjectList<T>>;
  /** Ends or throws when the connection does. */
  watch(options: {
    resourceVersion: string;
    timeoutSeconds: number;
    signal: AbortSignal;
  }): AsyncIterable<WatchEvent<T>>;
}

/** Returns a source that lists and watches one type through the client. */
export function listWatch<T extends KubernetesObject>(
  client: ClusterClient,
  type: ResourceType<T>,
  selection: Selection = {},
): ListWatch<T> {
  return {
    list: (options) => client.list(type, { ...selection, ...options }),
    watch: (options) => client.watch(type, { ...selection, ...options }),
  };
}

/**
 * Returns `source` with every object mapped on arrival to another type, also those of bookmarks, which contain only a
 * resource version.
 */
export function mapped<S extends KubernetesObject, T extends KubernetesObject>(
  source: ListWatch<S>,
  map: (object: S) => T,
): ListWatch<T> {
  return {
    async list(options) {
      const page = await source.list(options);
      return { ...page, items: page.items.map(map) };
    },
    async *watch(options) {
      for await (const event of source.watch(options)) yield { ...event, object: map(event.object) };
    },
  };
}

const pageSize = 500;

/**
 * Lists all objects by pages, as of one resource version. If the snapshot expires meanwhile, lists all at once, as
 * client-go's pager does.
 */
export async function listAll<T>(source: Pick<ListWatch<T>, 'list'>, signal: AbortSignal): Promise<ObjectList<T>> {
  const ending = new AbortController();
  let list: ObjectList<T> | undefined;
  try {
    for await (const page of pagesOf(source, AbortSignal.any([signal, ending.signal]))) {
      if (list) list.items.push(...page.items);
      else list = { items: [...page.items], resourceVersion: page.resourceVersion };
    }
  } catch (error) {
    if (list && isGone(error)) return await source.list({ signal });
    throw error;
  } finally {
    // Ends the request of a page that is not needed any more.
    ending.abort();
  }
  if (!list) throw new Error('the API server sent no page of a list');
  return list;
}

/**
 * Yields all pages. Each is requested before the one before it is parsed, so that the API server writes a page while this
 * process reads one; the server's tokens decide which pages there are.
 */
async function* pagesOf<T>(source: Pick<ListWatch<T>, 'list'>, signal: AbortSignal): AsyncGenerator<ObjectList<T>> {
  const ahead = new Map<string, Promise<Outcome<T>>>();
  const request = (token?: string): Promise<Outcome<T>> => {
    const onContinue = (next: string) => {
      if (!ahead.has(next)) ahead.set(next, request(next));
    };
    const options = { limit: pageSize, ...(token !== undefined && { continue: token }), signal, onContinue };
    return source.list(options).then(
      (page) => ({ page }),
      (error: unknown) => ({ error }),
    );
  };
  for (let outcome = request(); ;) {
    const answered = await outcome;
    if ('error' in answered) throw answered.error;
    const { page } = answered;
    yield page;
    if (page.continue === undefined) return;
    outcome = ahead.get(page.continue) ?? request(page.continue);
    ahead.delete(page.continue);
  }
}

/** An error is a value here, because nothing awaits a page that was requested ahead if the one before it fails. */
type Outcome<T> = { page: ObjectList<T> } | { error: unknown };
