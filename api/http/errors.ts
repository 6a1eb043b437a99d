/** One fault of a request: `path` is the field, dotted; empty for the body as a whole. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** What a request is answered with in place of what it asked for. The message goes to the caller. */
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

/** Contract section 7: no authentication found. */
export class Unauthenticated extends HttpError {
  readonly status = 400;
}

/** Contract section 7: the authentication is not valid. */
export class Unauthorized extends HttpError {
  readonly status = 401;
}

export class Forbidden extends HttpError {
  readonly status = 403;
}

/** Does not exist, or the caller may not see it: nobody can tell which. */
export class NotFound extends HttpError {
  readonly status = 404;
}

/** There is such an address, and it takes other methods; says nothing of what is there for whom. */
export class MethodNotAllowed extends HttpError {
  readonly status = 405;
  override readonly headers: Readonly<Record<string, string>>;

  /** @param methods in capitals */
  constructor(methods: readonly string[]) {
    const allowed = methods.join(', ');
    super(`this address takes ${allowed} only`);
    this.headers = { Allow: allowed };
  }
}

/** The resource is in a state that cannot take the request, or the name is taken. */
export class Conflict extends HttpError {
  readonly status = 409;
}

export class TooLarge extends HttpError {
  readonly status = 413;
}

/** What was sent cannot be taken as it is. */
export class Invalid extends HttpError {
  readonly status = 422;
}

/** This address answers WebSocket upgrades alone. */
export class UpgradeRequired extends HttpError {
  readonly status = 426;
  override readonly headers = { Upgrade: 'websocket', Connection: 'Upgrade' };
}

export class TooManyRequests extends HttpError {
  readonly status = 429;
  override readonly headers: Readonly<Record<string, string>>;

  /** @param options `retryAfterSeconds` where no limiter has set the header. */
  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    const { retryAfterSeconds } = options;
    this.headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  }
}

/** The cluster or Redis cannot be reached, or there is too much to do: the same request may work later. */
export class Unavailable extends HttpError {
  readonly status = 503;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    this.headers = { 'Retry-After': String(options.retryAfterSeconds ?? 5) };
  }
}

/** What Redis, or whatever else may be away, answers. @throws Unavailable with these words in place of its failure. */
export async function orUnavailable<T>(answer: Promise<T>, message: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new Unavailable(message, { cause: error });
  }
}
