import type { z } from 'zod';
import type { HostAnswer, HostHttp, HostRequest } from './host-http.ts';
import { listSchema, MAX_PER_PAGE } from './list-schema.ts';
import { nextLink, readPages, type Page } from './pages.ts';

export interface HostApiOptions {
  http: HostHttp;
  /** Base of all paths, without a trailing slash. */
  baseUrl: string;
  /** Headers including the token; sent only to the base URL's origin. */
  headers: Record<string, string>;
  isPage404Own?: HostRequest['isPage404Own'];
  /** Returns what a status means if the host uses it in a way of its own; otherwise undefined. */
  explain?: HostRequest['explain'];
}

type Write = Exclude<HostRequest['method'], 'GET' | 'DELETE'>;

/**
 * The API of one host, with the credentials of one repository. Paths start with a slash, and their segments are
 * encoded.
 */
export class HostApi {
  readonly #options: HostApiOptions;

  constructor(options: HostApiOptions) {
    this.#options = options;
  }

  url(path: string): URL {
    return new URL(this.#options.baseUrl + path);
  }

  async get<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return (await this.read(this.url(path), schema)).value;
  }

  /** Reads a list without pages. */
  async getLong<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return (await this.readLong(this.url(path), schema)).value;
  }

  /** Reads a response with its headers. */
  read<T>(url: URL, schema: z.ZodType<T>): Promise<HostAnswer<T>> {
    return this.#options.http.request(this.#request('GET', url), schema);
  }

  /** Reads a page whose address the host returned; readPages verifies that it has the same origin. */
  readLong<T>(url: URL, schema: z.ZodType<T>): Promise<HostAnswer<T>> {
    return this.#options.http.request({ ...this.#request('GET', url), isLong: true }, schema);
  }

  async write<T>(method: Write, path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    return (await this.#options.http.request(this.#request(method, this.url(path), body), schema)).value;
  }

  async delete(path: string): Promise<void> {
    await this.#options.http.do(this.#request('DELETE', this.url(path)));
  }

  /** Reads a whole list with any kind of pages. */
  list<T>(path: string, readPage: (url: URL) => Promise<Page<T>>, keyOf: (item: T) => string | number): Promise<T[]> {
    return readPages(this.url(path), readPage, keyOf, this.#options.http.now);
  }

  /** Reads a whole list whose pages are linked by headers, as those of GitHub and GitLab. */
  linkedList<T>(path: string, item: z.ZodType<T>, keyOf: (item: T) => string | number): Promise<T[]> {
    const read = async (url: URL): Promise<Page<T>> => {
      const { value, headers } = await this.readLong(url, listSchema(item, MAX_PER_PAGE));
      return { items: value, next: nextLink(headers['link'], url) };
    };
    return this.list(path, read, keyOf);
  }

  #request(method: HostRequest['method'], url: URL, body?: unknown): HostRequest {
    const { headers, isPage404Own, explain } = this.#options;
    return { method, url, headers, body, isPage404Own, explain };
  }
}

/** Returns a path of encoded segments: `/a/b%2Fc` for ['a', 'b/c']. */
export function pathOf(...parts: (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** Returns an address without a trailing slash, so that paths can be appended. */
export function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
