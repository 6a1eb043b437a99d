import { SourceUnreachableError } from '../errors.ts';

export interface Page<T> {
  items: readonly T[];
  /** URL of the next page; undefined on the last one. */
  next: URL | undefined;
}

const maxPages = 200;
/** Maximum size of all items together as JSON, in characters: they are kept while the list is read. */
const maxCharacters = 16 * 1024 * 1024;
/** Timeout of all pages together, in milliseconds, because others wait meanwhile. */
const maxMs = 60_000;

/**
 * Returns all items of a list's pages, or none. Throws SourceUnreachableError when a page links to another origin, to
 * which no token is sent, to an earlier page, or to too many pages, or when all pages are too large or take longer than a minute. A
 * numbered list shifts while it is read: when an item of the first page disappears, one of the second page moves to the
 * first and is missed. A list of several pages is therefore read twice, and the items of both are returned.
 */
export async function readPages<T>(
  first: URL,
  read: (url: URL) => Promise<Page<T>>,
  keyOf: (item: T) => string | number,
  now: () => Date,
): Promise<T[]> {
  const endsAt = now().getTime() + maxMs;
  let left = maxCharacters;
  const readInTime = async (url: URL) => {
    if (now().getTime() >= endsAt) throw unreadable(first, `takes longer than ${maxMs / 1000} s to read`, shorten);
    const page = await read(url);
    left -= JSON.stringify(page.items).length;
    if (left < 0) throw unreadable(first, `has more than ${maxCharacters / 2 ** 20} million characters`, shorten);
    return page;
  };
  const once = await readOnce(first, readInTime, keyOf);
  const twice = once.pages > 1 ? await readOnce(first, readInTime, keyOf) : once;
  return [...new Map([...once.items, ...twice.items]).values()];
}

async function readOnce<T, K>(
  first: URL,
  read: (url: URL) => Promise<Page<T>>,
  keyOf: (item: T) => K,
): Promise<{ items: Map<K, T>; pages: number }> {
  const seen = new Set<string>();
  const items = new Map<K, T>();
  for (let url: URL | undefined = first; url !== undefined;) {
    if (url.origin !== first.origin) throw unreadable(first, 'continues at another host');
    if (seen.has(url.href)) throw unreadable(first, 'links back to a page that was read before');
    if (seen.size >= maxPages) throw unreadable(first, `has more than ${maxPages} pages`, shorten);
    seen.add(url.href);
    const page: Page<T> = await read(url);
    const before = items.size;
    for (const item of page.items) items.set(keyOf(item), item);
    if (page.items.length > 0 && items.size === before) throw unreadable(first, 'repeats the same page');
    url = page.next;
  }
  return { items, pages: seen.size };
}

/** Returns the `next` URL of a Link header (RFC 8288), which may be relative to `base`. */
export function nextLink(header: string | undefined, base: URL): URL | undefined {
  // An address contains no `<`; without it the time is linear in the header's length.
  for (const [, target, parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>((?:\s*;\s*[^,;]+)*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(parameters) ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    if (target !== undefined && relations.includes('next')) return nextUrl(target, base);
  }
  return undefined;
}

/** Returns the URL of a next page that the host names in its own format. */
export function nextUrl(target: string, base: URL): URL {
  if (URL.canParse(target, base.href)) return new URL(target, base);
  throw unreadable(base, 'continues at an invalid address');
}

const shorten = 'Close pull requests, or delete comments and webhooks, that are no longer needed';
const checkHost = "Ask the host's administrator to check the API and the proxy in front of it";

function unreadable({ host, pathname }: URL, why: string, remedy = checkHost): SourceUnreachableError {
  return new SourceUnreachableError(`a list of ${host} (GET ${pathname}) cannot be read: it ${why}. ${remedy}`);
}
