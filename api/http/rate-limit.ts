import type { Request, RequestHandler, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import { TooManyRequests, Unavailable } from './errors.ts';

export interface RateLimits {
  /** Tries to log in or register, from one address in a minute. */
  loginsPerMinute: number;
  /** Requests of one user, or deliveries or unknown tokens from one address, in a minute. */
  requestsPerMinute: number;
}

/** What the limits need of Redis. */
export interface CommandRedis {
  sendCommand(command: string[]): Promise<unknown>;
}

/** Makes the store of one limit; counts are kept apart by the prefix. */
export type StoreFactory = (prefix: string) => Store;

const windowMs = 60 * 1000;

/** The stricter limit, before anybody is known: by address. */
export function limitByAddress(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('login', limits.loginsPerMinute, stores, log);
}

/** Logins at a provider, of two requests each: by address. */
export function limitOidc(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('oidc', 2 * limits.loginsPerMinute, stores, log);
}

/** Deliveries of Git hosts, which nobody is known for: by address, but as many as of a user. */
export function limitDeliveries(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  return limit('webhook', limits.requestsPerMinute, stores, log);
}

/** Limits of requests that need a token. Each counts one request. @throws TooManyRequests */
export interface RequestLimits {
  /** By user, whatever tokens they use. */
  ofUser: (request: Request, response: Response, userName: string) => Promise<void>;
  /**
   * API tokens that this replica does not know, from one address: each has the API server asked whether another replica
   * has just made it, and nobody is known yet whose requests could be counted.
   */
  ofUnknownToken: (request: Request, response: Response) => Promise<void>;
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
      next(new TooManyRequests(`at most ${perMinute} of these requests are taken in a minute; try again later`));
    },
    ...(keyGenerator && { keyGenerator }),
  });
}

/** Counts in Redis, so that replicas share them. */
export function redisStores(redis: CommandRedis): StoreFactory {
  return (prefix) => new RedisStore({ prefix, sendCommand: (...command: string[]) => send(redis, command) });
}

/** What Redis answers to EVALSHA of this digest is NOSCRIPT. */
const noScript = '0'.repeat(40);

async function send(redis: CommandRedis, command: string[]): Promise<never> {
  try {
    return (await redis.sendCommand(command)) as never;
  } catch (error) {
    // rate-limit-redis keeps the failure of its first SCRIPT LOAD for ever. NOSCRIPT makes it load the script again.
    if (command[0] === 'SCRIPT') return noScript as never;
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) throw error;
    throw new Unavailable('requests cannot be counted now; try again later', { cause: error });
  }
}
