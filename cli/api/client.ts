import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError, codeOf, notSignedIn, timedOut, usageError } from '../errors.ts';
import type { Target } from '../config/target.ts';
import { shownDetail, type Detail } from './shown-detail.ts';
import { exchange, textOf } from './http.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that the API refused. */
export class RequestError extends CliError {
  readonly status: number;

  constructor(status: number, message: string, details: readonly Detail[] = [], options?: ErrorOptions) {
    const list = details.map((detail) => `\n  ${shownDetail(detail)}`).join('');
    // The details follow, so that nothing has to say where they are.
    const head =
      list === ''
        ? message
        : message
            .replace(/\. Correct .*|, for the reasons? in details$/, '')
            .replace(/^the body is/, 'these values are');
    super(`${head}${list}`, undefined, options);
    this.name = 'RequestError';
    this.status = status;
  }
}

export interface SendOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  idleMs?: number;
  headers?: Readonly<Record<string, string>>;
}

/** Segments that URLs resolve, also if they are encoded: as the name of a variable, `..` would name its owner. */
const dotSegment = /(?:^|\/)(?:\.|%2e){1,2}(?=[/?#]|$)/i;

/** Delays before each retry of a request, in milliseconds: a restart of the API takes a few seconds. */
const waits = [250, 500, 1000, 2000, 4000, 8000];
const maxRetryAfterSeconds = 60;
/** Number of times that a body that was cut off is read again. */
const maxCutOff = 2;

/** The REST API of one server. */
export class Client {
  readonly target: Target;
  readonly #onUnreachable: (message: string) => void;

  /** @param onUnreachable called once per request, after its first retry has failed too */
  constructor(target: Target, onUnreachable: (message: string) => void = () => undefined) {
    this.target = target;
    this.#onUnreachable = onUnreachable;
  }

  /** Returns the answer, of the type that the endpoint declares. @throws CliError */
  async send<Answer>(method: Method, path: string, options: SendOptions = {}): Promise<Answer> {
    const text = await this.#text(method, path, options);
    try {
      // Not validated: the server that sends it defines and verifies its type (api/http/endpoint.ts).
      return JSON.parse(text) as Answer;
    } catch (error) {
      throw new CliError(`${this.target.url} does not answer like Coppice. Check the address`, undefined, {
        cause: error,
      });
    }
  }

  /** Returns the body of a successful response; reads again what a lost connection has cut off. */
  async #text(method: Method, path: string, options: SendOptions): Promise<string> {
    for (let failures = 0; ; failures++) {
      const response = await this.open(method, path, options);
      try {
        return await textOf(response);
      } catch (error) {
        if (options.signal?.aborted === true) throw error;
        if (method !== 'GET' || failures === maxCutOff) throw this.lost(error);
      }
    }
  }

  get<Answer>(path: string, query: SendOptions['query'] = {}, signal?: AbortSignal): Promise<Answer> {
    return this.send<Answer>('GET', path, { query, signal });
  }

  /** Sends a request, repeats it while the server restarts, and returns a successful response. @throws CliError */
  async open(method: Method, path: string, options: SendOptions = {}): Promise<IncomingMessage> {
    const response = await this.openAny(method, path, options);
    if ((response.statusCode ?? 0) >= 400) throw await this.refusal(response);
    return response;
  }

  /** Like `open`, but returns refusals too. */
  async openAny(method: Method, path: string, options: SendOptions = {}): Promise<IncomingMessage> {
    for (const [failures, wait] of waits.entries()) {
      const { response, isUnsent, cause } = await this.#try(method, path, options);
      const status = response?.statusCode ?? 0;
      if (response && !isTemporary(method, status)) return response;
      if (!response && method !== 'GET' && !isUnsent) throw this.#unreachable(cause);
      // A name that does not exist is a mistake, not a restart.
      if (codeOf(cause) === 'ENOTFOUND') throw this.#unreachable(cause);
      if (!response && failures === 1) this.#onUnreachable(`${this.target.url} cannot be reached, trying again`);
      await pause(response, wait, options.signal);
    }
    const { response, cause } = await this.#try(method, path, options);
    if (!response) throw this.#unreachable(cause);
    return response;
  }

  /** Returns the error of a refused request. */
  async refusal(response: IncomingMessage): Promise<CliError> {
    const { statusCode: status = 0 } = response;
    const { error, details } = parsedRefusal(await textOf(response));
    if (status === 400 || status === 401) return notSignedIn(this.target.url, status === 401);
    return new RequestError(status, error ?? `${this.target.url} answered ${status}`, details);
  }

  /** Returns the error of a connection that was lost while an answer was read. */
  lost(cause: unknown): CliError {
    return new CliError(
      `the connection to ${this.target.url} was lost before the answer was complete. Try again`,
      undefined,
      { cause },
    );
  }

  /** @throws CliError for a path of another server, or with a name that leads to another resource */
  url(path: string, query: SendOptions['query'] = {}): URL {
    if (dotSegment.test(path)) throw usageError(`${path} contains . or .. as a name, which leads to another resource`);
    const url = new URL(path, this.target.url);
    // The token must not reach another server, whatever the path is.
    if (url.origin !== this.target.url) throw new CliError(`${path} is not a path of ${this.target.url}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  get headers(): Record<string, string> {
    const { token } = this.target;
    return token === undefined ? {} : { 'x-service-token': token };
  }

  async #try(
    method: Method,
    path: string,
    { query, body, signal, idleMs, headers }: SendOptions,
  ): Promise<{ response?: IncomingMessage; isUnsent?: boolean; cause?: unknown }> {
    try {
      const response = await exchange(this.url(path, query), {
        method,
        headers: { accept: 'application/json', 'user-agent': 'coppice-cli', ...this.headers, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal,
        ...(idleMs !== undefined && { idleMs }),
      });
      return { response };
    } catch (error) {
      if (error instanceof CliError || signal?.aborted === true) throw error;
      return { isUnsent: codeOf(error) === 'ECONNREFUSED', cause: error };
    }
  }

  #unreachable(cause: unknown): CliError {
    const why = `: ${codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause))}`;
    return new CliError(`${this.target.url} cannot be reached${why}. Check the address and your network`, undefined, {
      cause,
    });
  }
}

/** Returns whether to retry: any request after a rate limit, and a read during a restart. */
function isTemporary(method: Method, status: number): boolean {
  return status === 429 || (method === 'GET' && (status === 502 || status === 503 || status === 504));
}

async function pause(response: IncomingMessage | undefined, wait: number, signal: AbortSignal | undefined) {
  response?.resume();
  const after = Number(response?.headers['retry-after'] ?? NaN);
  const ms = Number.isNaN(after) ? wait : Math.min(after, maxRetryAfterSeconds) * 1000;
  await delay(Math.max(ms, wait), undefined, { signal });
}

/** Parses an error of the API; returns an empty object for anything else, such as the page of a proxy. */
function parsedRefusal(text: string): { error?: string; details?: Detail[] } {
  try {
    // The body is the API's error object; any other JSON lacks these fields.
    return JSON.parse(text) as { error?: string; details?: Detail[] };
  } catch {
    return {};
  }
}

/** Timers of Node.js end at once above it. */
const maxTimerMs = 2 ** 31 - 1;

/** Returns a signal that ends a wait, and the error for it. */
export function deadline(timeoutSeconds: number, what: string): { signal: AbortSignal; error: () => CliError } {
  return {
    signal: AbortSignal.timeout(Math.min(timeoutSeconds * 1000, maxTimerMs)),
    error: () => timedOut(`${what} after ${timeoutSeconds} s. Wait longer with --timeout`),
  };
}
