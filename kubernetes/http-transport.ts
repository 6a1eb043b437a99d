import http from 'node:http';
import https from 'node:https';
import { setImmediate as afterPendingEvents } from 'node:timers/promises';
import { ApiError, TooLargeError, UnreachableError, apiErrorFrom } from './api-error.ts';
import { sleep, systemClock } from './clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  /** Default `application/json`. */
  accept?: string | undefined;
  /** Timeout of the whole request with its retries and its response; for a stream, until its headers. */
  timeoutMs: number;
  /** Maximum size of the response; none by default. */
  maxBytes?: number | undefined;
  /** Called with the response's text; what it sends is on its way before the text is parsed. */
  onText?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Called once per response with the status code, or `<error>` without a response, as client-go counts them. */
export type RequestObserver = (method: string, code: string, seconds: number) => void;

export const DEFAULT_TIMEOUT_MS = 30_000;
/** Maximum number of attempts of a request that the API server delays with Retry-After. */
const maxTries = 5;
const maxRetryAfterSeconds = 10;
/** Shorter than the API server's 90 s, so that no request is sent on a connection that it is closing. */
const idleConnectionMs = 60_000;

/** Sends requests to one API server over persistent connections, with a kubeconfig's credentials. */
export class HttpTransport {
  readonly #config: ClusterConnection;
  readonly #userAgent: string;
  readonly #observe: RequestObserver | undefined;
  readonly #agent = new https.Agent({ keepAlive: true, timeout: idleConnectionMs });
  readonly #plainAgent = new http.Agent({ keepAlive: true, timeout: idleConnectionMs });

  constructor(config: ClusterConnection, userAgent: string, observe?: RequestObserver) {
    this.#config = config;
    this.#userAgent = userAgent;
    this.#observe = observe;
  }

  /** Sends a request. @returns the parsed response @throws ApiError, UnreachableError, TooLargeError, or the signal's reason */
  async request(request: HttpRequest): Promise<unknown> {
    return this.#retried(request, (response) => readBody(response, request));
  }

  /** Sends a request and returns the response as a stream; the caller limits its duration. @throws as request() does */
  async stream(request: HttpRequest): Promise<http.IncomingMessage> {
    return this.#retried(request, (response) => Promise.resolve(response));
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
    this.#plainAgent.destroy();
  }

  async #retried<T>(request: HttpRequest, read: (response: http.IncomingMessage) => Promise<T>): Promise<T> {
    const end = performance.now() + request.timeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, end - performance.now(), read);
      } catch (error) {
        if (error instanceof StaleConnection && attempt === 1) continue;
        if (error instanceof StaleConnection) throw unreachable(request, error.cause);
        const waitMs = error instanceof ApiError ? retryAfterMs(error) : undefined;
        if (waitMs === undefined || attempt >= maxTries || performance.now() + waitMs >= end) throw error;
        await sleep(systemClock, waitMs, request.signal);
      }
    }
  }

  async #attempt<T>(
    request: HttpRequest,
    timeoutMs: number,
    read: (response: http.IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const started = performance.now();
    const code = (name: string) => this.#observe?.(request.method, name, (performance.now() - started) / 1000);
    request.signal?.throwIfAborted();
    const { outgoing, sent } = await this.#send(request);
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no response within ${Math.round(request.timeoutMs / 1000)} s`)),
      Math.max(timeoutMs, 1),
    );
    let response: http.IncomingMessage | undefined;
    try {
      response = await sent;
      code(String(response.statusCode));
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return await read(response);
      const error = apiErrorFrom(`${request.method} ${request.path}`, status, await readBody(response));
      const after = Number(response.headers['retry-after']);
      if (after > 0) error.details.retryAfterSeconds ??= after;
      else if (response.headers['retry-after'] === undefined) delete error.details.retryAfterSeconds;
      throw error;
    } catch (error) {
      if (error instanceof ApiError || error instanceof TooLargeError) throw error;
      if (request.signal?.aborted) throw request.signal.reason;
      if (response === undefined) code('<error>');
      const mayBeStale = response === undefined && request.method !== 'POST' && outgoing.reusedSocket;
      if (mayBeStale && isReset(error)) throw new StaleConnection(error);
      throw unreachable(request, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(request: HttpRequest): Promise<{ outgoing: http.ClientRequest; sent: Promise<http.IncomingMessage> }> {
    const url = this.#url(request);
    const body = request.body === undefined ? undefined : Buffer.from(serialized(request));
    const options: https.RequestOptions = {
      method: request.method,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': this.#userAgent,
        ...(body && { 'content-type': request.contentType ?? 'application/json', 'content-length': body.length }),
      },
      signal: request.signal,
    };
    // Repeated for each request: it rereads a service account's token, and runs an exec plugin when its credential has
    // expired.
    await this.#config.applyToHTTPSOptions(options);
    const secure = url.protocol === 'https:';
    if (!this.#config.getCurrentCluster()?.proxyUrl) options.agent = secure ? this.#agent : this.#plainAgent;
    const outgoing = (secure ? https : http).request(url, options);
    const sent = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
    });
    outgoing.end(body);
    return { outgoing, sent };
  }

  #url({ path, query = {} }: HttpRequest): URL {
    const cluster = this.#config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster. Select one with kubectl config use-context');
    const url = new URL(cluster.server.replace(/\/$/, '') + path);
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    return url;
  }
}

/** The server closed a persistent connection before responding to the request, which can be retried once. */
class StaleConnection extends Error {
  constructor(cause: unknown) {
    super('the server closed a persistent connection', { cause });
  }
}

function isReset(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function unreachable({ method, path }: HttpRequest, cause: unknown): UnreachableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new UnreachableError(`${method} ${path}: the API server did not respond: ${why}`, { cause });
}

/** Returns the requested delay in milliseconds, if the API server refused the request before doing any of it. */
function retryAfterMs(error: ApiError): number | undefined {
  const seconds = error.details.retryAfterSeconds;
  if ((error.code !== 429 && error.code !== 503) || seconds === undefined) return undefined;
  return Math.min(seconds, maxRetryAfterSeconds) * 1000;
}

/** Reads a response: JSON as its value, anything else as text. @throws TooLargeError */
export async function readBody(
  response: http.IncomingMessage,
  { maxBytes = Infinity, onText }: Pick<HttpRequest, 'maxBytes' | 'onText'> = {},
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the response with its connection.
    if (bytes > maxBytes) throw new TooLargeError(`the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (onText) {
    onText(text);
    await afterPendingEvents();
  }
  if (!response.headers['content-type']?.startsWith('application/json')) return text;
  return JSON.parse(text) as unknown;
}

/**
 * Returns the body as JSON. The API server reads that of an apply as YAML, which refuses or changes characters that
 * JSON permits, unless they are escaped (YAML 1.1, 5.1).
 */
function serialized({ body, contentType = '' }: HttpRequest): string {
  const text = JSON.stringify(body);
  if (!contentType.endsWith('+yaml')) return text;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}
