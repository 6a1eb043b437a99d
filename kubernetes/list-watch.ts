import type { ObjectList, Selection, WatchEvent } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import { isGone } from './api-error.ts';
import type { KubernetesObject, ResourceType } from './resource-type.ts';

/** The source of an informer's objects; tests pass a fake. */
export interface ListWatch<T> {
  list(options: { limit?: number; continue?: string; signal: AbortSignal }): Promise<ObjectList<T>>;
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
 * Returns `source` with every object mapped on arrival, except those of bookmarks, which contain only a resource
 * version.
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
  const first = await source.list({ limit: pageSize, signal });
  const items = [...first.items];
  for (let token = first.continue; token !== undefined;) {
    try {
      const page = await source.list({ limit: pageSize, continue: token, signal });
      items.push(...page.items);
      token = page.continue;
    } catch (error) {
      if (isGone(error)) return source.list({ signal });
      throw error;
    }
  }
  return { items, resourceVersion: first.resourceVersion };
}
