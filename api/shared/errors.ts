/** One fault of a request: `path` is the dotted field; empty for the whole body. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** An error response. The message is sent to the caller. */
export abstract class HttpError extends Error {
  abstract readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>> = {};

  constructor(message: string, options?: ErrorOptions & { details?: readonly ErrorDetail[] }) {
    super(message, options);
    this.name = new.target.name;
    this.details = options?.details;
  }
}

/** 400: the request has no authentication. */
export class Unauthenticated extends HttpError {
  readonly status = 400;
}

/** 401: the authentication is not valid. */
export class Unauthorized extends HttpError {
  readonly status = 401;
}

export class Forbidden extends HttpError {
  readonly status = 403;
}

/** The resource does not exist, or the caller cannot see it; indistinguishable on purpose. */
export class NotFound extends HttpError {
  readonly status = 404;
}

/** The address accepts other methods; reveals nothing about existing resources. */
export class MethodNotAllowed extends HttpError {
  readonly status = 405;
  override readonly headers: Readonly<Record<string, string>>;

  /** @param methods in upper case */
  constructor(methods: readonly string[]) {
    const allowed = methods.join(', ');
    super(`this address accepts only ${allowed}. Use one of these methods`);
    this.headers = { Allow: allowed };
  }
}

/** The resource's state does not permit the request, or the name is taken. */
export class Conflict extends HttpError {
  readonly status = 409;
}

export class TooLarge extends HttpError {
  readonly status = 413;
}

/** The input is not valid. */
export class Invalid extends HttpError {
  readonly status = 422;
}

/** Returns the error for input with these faults. `what`: such as `the body`. */
export function invalid(what: string, details: readonly ErrorDetail[], options?: ErrorOptions): Invalid {
  return new Invalid(`${what} is not valid. Correct the fields in details`, { ...options, details });
}

/** The address accepts only WebSocket upgrades. */
export class UpgradeRequired extends HttpError {
  readonly status = 426;
  override readonly headers = { Upgrade: 'websocket', Connection: 'Upgrade' };
}

export class TooManyRequests extends HttpError {
  readonly status = 429;
  override readonly headers: Readonly<Record<string, string>>;

  /** @param options `retryAfterSeconds` if no limiter has set the header. */
  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    const { retryAfterSeconds } = options;
    this.headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  }
}

/** The cluster or Redis cannot be reached, or the API is overloaded; the same request may work later. */
export class Unavailable extends HttpError {
  readonly status = 503;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    this.headers = { 'Retry-After': String(options.retryAfterSeconds ?? 5) };
  }
}

/** Awaits a response of Redis or another service. @throws Unavailable with this message in place of its failure. */
export async function orUnavailable<T>(answer: Promise<T>, message: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new Unavailable(message, { cause: error });
  }
}
