import type { Request, RequestHandler, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import { callerOf } from '../auth/caller.ts';
import { TooManyRequests, Unavailable } from './errors.ts';

export interface RateLimits {
  /** Tries to log in or register, from one address in a minute. */
  loginsPerMinute: number;
  /** Requests of one user in a minute. */
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

/** By user, whatever tokens they use. */
export function limitByCaller(limits: RateLimits, stores: StoreFactory, log: LimitLogger): RequestHandler {
  const keyGenerator = (_request: Request, response: Response) => callerOf(response).user.name;
  return limit('caller', limits.requestsPerMinute, stores, log, keyGenerator);
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
