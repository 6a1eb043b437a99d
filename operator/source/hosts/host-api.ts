import type { z } from 'zod';
import type { HostAnswer, HostHttp, HostRequest } from './host-http.ts';
import { listSchema, maxPerPage } from './list-schema.ts';
import { nextLink, readPages, type Page } from './pages.ts';

export interface HostApiOptions {
  http: HostHttp;
  /** With the path that all calls are below, without a slash at its end. */
  baseUrl: string;
  /** The token among them; they go to the base URL's origin alone. */
  headers: Record<string, string>;
  isPage404Own?: HostRequest['isPage404Own'];
  /** What a host means by a status in a way of its own; undefined where it means what others do. */
  explain?: HostRequest['explain'];
}

type Write = Exclude<HostRequest['method'], 'GET' | 'DELETE'>;

/** The API of one host, as one repository's token sees it. Paths start with a slash; their parts are encoded. */
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

  /** For lists without pages. */
  async getLong<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return (await this.readLong(this.url(path), schema)).value;
  }

  /** With headers. */
  read<T>(url: URL, schema: z.ZodType<T>): Promise<HostAnswer<T>> {
    return this.#options.http.request(this.#request('GET', url), schema);
  }

  /** For pages, whose addresses the host gives: readPages sees to it that they are at the same origin. */
  readLong<T>(url: URL, schema: z.ZodType<T>): Promise<HostAnswer<T>> {
    return this.#options.http.request({ ...this.#request('GET', url), isLong: true }, schema);
  }

  async write<T>(method: Write, path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    return (await this.#options.http.request(this.#request(method, this.url(path), body), schema)).value;
  }

  async delete(path: string): Promise<void> {
    await this.#options.http.do(this.#request('DELETE', this.url(path)));
  }

  /** All of a list by pages of any kind. */
  list<T>(path: string, readPage: (url: URL) => Promise<Page<T>>, keyOf: (item: T) => string | number): Promise<T[]> {
    return readPages(this.url(path), readPage, keyOf, this.#options.http.now);
  }

  /** All of a list whose pages are linked by headers, as GitHub's and GitLab's are. */
  linkedList<T>(path: string, item: z.ZodType<T>, keyOf: (item: T) => string | number): Promise<T[]> {
    const read = async (url: URL): Promise<Page<T>> => {
      const { value, headers } = await this.readLong(url, listSchema(item, maxPerPage));
      return { items: value, next: nextLink(headers['link'], url) };
    };
    return this.list(path, read, keyOf);
  }

  #request(method: HostRequest['method'], url: URL, body?: unknown): HostRequest {
    const { headers, isPage404Own, explain } = this.#options;
    return { method, url, headers, body, isPage404Own, explain };
  }
}

/** `/a/b%2Fc` of ['a', 'b/c']. */
export function pathOf(...parts: (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** A configured address, as paths are appended to it. */
export function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
