import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import { AddressNotAllowedError, type HttpAnswer, type Send } from '../network/send.ts';
import { PERMIT_NETWORK, PERMIT_PORT, portOf } from '../network/addresses.ts';
import { HostBusyError, HostTimeoutError, SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import { attempting, HostBackoff } from '../git/host-backoff.ts';
import { answerError } from './answer-error.ts';
import { BusyHosts } from './busy-hosts.ts';
import { EtagCache } from './etag-cache.ts';
import { hasMoreParts } from './json-parts.ts';

export interface HostRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  /** Headers of this host, including the token. */
  headers: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Whether the response is a list, which can be longer than others. */
  isLong?: boolean;
  /** Whether the host itself, rather than a proxy, may respond with 404 and no JSON. */
  isPage404Own?: boolean | undefined;
  /** Returns what a status means if the host uses it in a way of its own; otherwise undefined. */
  explain?: ((status: number) => Error | undefined) | undefined;
}

export interface HostAnswer<T> {
  value: T;
  /** The headers in `keptHeaders`, by lower-case name. */
  headers: Record<string, string>;
}

export interface HostHttpOptions {
  send: Send;
  /** Permitted TCP ports of hosts. */
  ports: readonly number[];
  now: () => Date;
  /** Returns a number from 0 to below 1. */
  random?: () => number;
  cacheBytes?: number;
}

/** Maximum size of a response in bytes: the description of a merge request has up to a million characters. */
const maxBytes = 4 * 1024 * 1024;
/** A page of 50 pull requests with all fields has about 20,000 values. */
const maxParts = 200_000;

const keptHeaders = ['link', 'x-oauth-scopes', 'x-ms-continuationtoken'];

/**
 * Sends one request for JSON to a Git host; returns a response of the expected shape, or throws an error of
 * operator/source/errors.ts.
 */
export class HostHttp {
  readonly #options: HostHttpOptions;
  readonly #cache: EtagCache;
  readonly #busy: BusyHosts;
  readonly #backoff: HostBackoff;

  constructor(options: HostHttpOptions) {
    this.#options = options;
    this.#cache = new EtagCache(options.cacheBytes ?? 32 * 1024 * 1024);
    this.#busy = new BusyHosts(options.now, options.random ?? Math.random);
    this.#backoff = new HostBackoff(() => options.now().getTime());
  }

  get now(): () => Date {
    return this.#options.now;
  }

  /**
   * Sends a request. Responses to GET are cached with their ETag and revalidated. `schema` may only omit fields; all
   * requests of one URL must use the same one.
   */
  async request<T>(request: HostRequest, schema: z.ZodType<T>): Promise<HostAnswer<T>> {
    const key = request.method === 'GET' ? cacheKey(request) : undefined;
    const former = key === undefined ? undefined : this.#cache.get(key);
    const answer = await this.#send(request, former && { 'if-none-match': former.etag });
    if (former && key !== undefined && answer.status === 304) {
      const kept = schema.safeParse(JSON.parse(former.text));
      if (kept.success) return { value: kept.data, headers: former.headers };
      // The cached response was parsed for other fields of the same URL, and lacks those needed now.
      this.#cache.delete(key);
      return this.request(request, schema);
    }
    this.#throwUnlessFine(request, answer);
    if (!isJson(answer.headers)) throw unusable(request, 'a response that is not JSON');
    const value = parse(schema, answer.body, request);
    const headers = keep(answer.headers);
    const { etag } = answer.headers;
    if (key !== undefined && etag !== undefined) {
      this.#cache.set(key, { etag, headers, text: JSON.stringify(value) });
    }
    return { value, headers };
  }

  /** Sends a request whose response contains no data. */
  async do(request: HostRequest): Promise<void> {
    this.#throwUnlessFine(request, await this.#send(request));
  }

  /** Throws unless the response succeeded. Proxies and login pages respond with 203. */
  #throwUnlessFine(request: HostRequest, answer: HttpAnswer): void {
    if (answer.status >= 200 && answer.status < 300 && answer.status !== 203) return;
    const own = request.explain?.(answer.status);
    if (own) throw own;
    const error = isOfProxy(request, answer)
      ? unusable(request, "404, unlike a Git host's API. Check that it is running, and the address of its API")
      : answerError(request.url.host, whatOf(request), answer, this.#options.now());
    if (error instanceof HostBusyError) this.#busy.add(askerAt(request), error);
    throw error;
  }

  #checkPort(url: URL): void {
    const port = portOf(url);
    if (this.#options.ports.includes(port)) return;
    throw new SourceRefusedError('AddressRefused', `the port ${port} is not permitted. ${PERMIT_PORT}`);
  }

  async #send(request: HostRequest, condition?: Record<string, string>): Promise<HttpAnswer> {
    const { method, url, headers, body, isLong } = request;
    this.#checkPort(url);
    this.#busy.check(askerAt(request));
    const content = body === undefined ? undefined : JSON.stringify(body);
    const about = {
      accept: 'application/json',
      // Disables compression, so that a small response cannot become a large one.
      'accept-encoding': 'identity',
      'user-agent': 'coppice',
      ...(content !== undefined && { 'content-type': 'application/json' }),
    };
    return attempting(this.#backoff.start(askerAt(request)), async () => {
      try {
        return await this.#options.send({
          method,
          url,
          headers: { ...about, ...headers, ...condition },
          body: content,
          maxBytes: isLong === true ? undefined : maxBytes,
        });
      } catch (error) {
        throw sendError(url.host, error);
      }
    });
  }
}

/** Includes the token: a response cached for one token must not be returned to another with fewer permissions. */
function cacheKey({ url, headers }: HostRequest): string {
  return `${hashOf(headers)} ${url.href}`;
}

/** Identifies the caller by its token, because hosts limit requests per token. */
function askerAt({ url, headers }: HostRequest): string {
  return `${hashOf(headers)} ${url.origin}`;
}

function hashOf(headers: HostRequest['headers']): string {
  return createHash('sha256').update(JSON.stringify(headers)).digest('base64');
}

/**
 * Returns whether a 404 comes from a proxy whose backend is gone: it has an HTML page or no body, while the host itself
 * responds with JSON. For deletions a 404 is fine in either case.
 */
function isOfProxy({ method, isPage404Own }: HostRequest, { status, headers }: HttpAnswer): boolean {
  return method !== 'DELETE' && isPage404Own !== true && status === 404 && !isJson(headers);
}

function parse<T>(schema: z.ZodType<T>, text: string, request: HostRequest): T {
  if (hasMoreParts(text, maxParts)) throw unusable(request, 'more values than Coppice reads at once');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw unusable(request, 'an incomplete response, or one that is not JSON');
    throw error;
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const paths = result.error.issues.slice(0, 5).map(({ path }) => path.join('.') || 'the whole');
  throw unusable(request, `unexpected JSON at ${paths.join(', ')}`);
}

function isJson({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return /^application\/([a-z.+-]+\+)?json\s*(;|$)/i.test(type);
}

function keep(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function unusable(request: HostRequest, what: string): SourceUnreachableError {
  return new SourceUnreachableError(`${request.url.host} returned ${what} (${whatOf(request)})`);
}

function whatOf({ method, url }: HostRequest): string {
  return `${method} ${url.pathname}`;
}

/** Returns an error whose text is the same for the same failure, so that conditions do not change. */
function sendError(host: string, error: unknown): Error {
  if (error instanceof AddressNotAllowedError) {
    return new SourceRefusedError('AddressRefused', `${error.message}. ${PERMIT_NETWORK}`, { cause: error });
  }
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'TimeoutError') {
    return new HostTimeoutError(`${host} did not respond in time`);
  }
  return new SourceUnreachableError(`${host} did not respond: ${code ?? message}`, { cause: error });
}
