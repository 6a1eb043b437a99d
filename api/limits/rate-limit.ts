import type { Request, RequestHandler, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import type { RequestLimits } from '../auth/authenticate.ts';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { REQUESTS_UNCOUNTED } from '../shared/messages.ts';

export interface RateLimits {
  /** Login and registration attempts per address and minute. */
  loginsPerMinute: number;
  /** Requests per user, or deliveries or unknown tokens per address, and minute. */
  requestsPerMinute: number;
}

/** The Redis commands that the limits need. */
export interface CommandRedis {
  sendCommand(command: string[]): Promise<unknown>;
}

/** Creates the store of one limit; the prefix separates the counts. */
export type StoreFactory = (prefix: string) => Store;

const windowMs = 60 * 1000;

/** Returns the stricter limit by address, before authentication. */
export function limitByAddress(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('login', limits.loginsPerMinute, stores, log);
}

/** Returns the limit of passwords of environments, by address: wrong ones of visitors refuse nobody a login. */
export function limitAccess(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('access', limits.loginsPerMinute, stores, log);
}

/** Returns the limit of reading invitations, by address: whoever opens a link can still log in. */
export function limitInvitations(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('invitation', limits.loginsPerMinute, stores, log);
}

/** Returns the limit of logins at an OpenID Connect provider, by address; each login takes two requests. */
export function limitOidc(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('oidc', 2 * limits.loginsPerMinute, stores, log);
}

/** Returns the limit of sign-ins of programs by address: each asks for the decision every 5 s. */
export function limitSignIns(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('sign-in', 12 * limits.loginsPerMinute, stores, log);
}

/** Returns the limit of webhook deliveries by address; it equals the limit of a user's requests. */
export function limitDeliveries(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('webhook', limits.requestsPerMinute, stores, log);
}

export function limitRequests(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestLimits {
  const ofUser = limit('caller', limits.requestsPerMinute, stores, log, (_request, { locals }) =>
    String(locals['countedFor']),
  );
  const ofUnknownToken = limit('unknown-token', limits.requestsPerMinute, stores, log);
  return {
    ofUser: (request, response, userName) => {
      response.locals['countedFor'] = userName;
      return passed(ofUser, request, response);
    },
    ofUnknownToken: (request, response) => passed(ofUnknownToken, request, response),
  };
}

function passed(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void handler(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('a limit failed', { cause: error }));
    });
  });
}

export interface LimitLogger {
  error(error: unknown, message?: string): void;
  warn(error: unknown, message?: string): void;
}

function limit(
  name: string,
  perMinute: number,
  stores: StoreFactory,
  logger: LimitLogger,
  keyGenerator?: (request: Request, response: Response) => string,
): RequestHandler {
  return rateLimit({
    windowMs,
    limit: perMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    store: stores(`coppice:limit:${name}:`),
    logger,
    // The library's own handler sends text; this leaves Retry-After, which it has set, and the body to error-response.
    handler: (_request, _response, next) => {
      next(
        new TooManyRequests(`at most ${perMinute} of these requests are accepted per minute. Try again in a minute`),
      );
    },
    ...(keyGenerator && { keyGenerator }),
  });
}

/** Counts in Redis, so that replicas share them. */
export function redisStores(redis: CommandRedis): StoreFactory {
  return (prefix) => new RedisStore({ prefix, sendCommand: (...command: string[]) => send(redis, command) });
}

/** A SHA-1 digest of no script: Redis responds to EVALSHA with NOSCRIPT. */
const noScript = '0'.repeat(40);

async function send(redis: CommandRedis, command: string[]): Promise<never> {
  try {
    return (await redis.sendCommand(command)) as never;
  } catch (error) {
    // rate-limit-redis caches a failure of its first SCRIPT LOAD forever. After NOSCRIPT it loads the script again.
    if (command[0] === 'SCRIPT') return noScript as never;
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) throw error;
    throw new Unavailable(REQUESTS_UNCOUNTED, { cause: error });
  }
}
