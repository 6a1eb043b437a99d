import { z } from 'zod';
import { Unavailable } from '../http/errors.ts';
import { newToken, tokenHash, type RandomBytes } from './tokens.ts';

const minute = 60 * 1000;
const day = 24 * 60 * minute;
/** How long a token lives without being used, and at most. */
const idleMs = day;
const longestMs = 30 * day;
/** A use renews the token only when that moves its end by more than this: reads stay reads. */
const renewalStepMs = 5 * minute;

/** What is known of a login. The account is named twice: a later account of the same e-mail is another one. */
export interface Session {
  userName: string;
  accountId: string;
}

/** What sessions need of Redis. */
export interface SessionRedis {
  set(key: string, value: string, options: { expiration: { type: 'PXAT'; value: number } }): Promise<unknown>;
  get(key: string): Promise<string | null>;
  pExpireTime(key: string): Promise<number>;
  /** Does nothing when the key is gone, so that a renewal cannot bring a token back. */
  pExpireAt(key: string, milliseconds: number): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

const recordSchema = z.object({ userName: z.string(), accountId: z.string(), createdAt: z.int() });

/** Login tokens in Redis, under their SHA-256 alone: 24 h, renewed by use, 30 days at most. */
export class Sessions {
  readonly #redis: SessionRedis;
  readonly #now: () => number;
  readonly #randomBytes: RandomBytes;

  constructor(redis: SessionRedis, now: () => number, randomBytes: RandomBytes) {
    this.#redis = redis;
    this.#now = now;
    this.#randomBytes = randomBytes;
  }

  /** @returns the token, which nobody can read again. */
  async create(session: Session): Promise<string> {
    const token = newToken(this.#randomBytes);
    const createdAt = this.#now();
    const value = JSON.stringify({ ...session, createdAt });
    const expiration = { type: 'PXAT', value: createdAt + idleMs } as const;
    await reach(this.#redis.set(keyOf(token), value, { expiration }));
    return token;
  }

  /** The login that the token stands for, and renews it; undefined for one that is not, or no longer, valid. */
  async find(token: string): Promise<Session | undefined> {
    const key = keyOf(token);
    const [value, expiresAt] = await reach(Promise.all([this.#redis.get(key), this.#redis.pExpireTime(key)]));
    if (value === null) return undefined;
    const { createdAt, ...session } = recordSchema.parse(JSON.parse(value));
    const now = this.#now();
    const end = createdAt + longestMs;
    if (now >= end) return undefined;
    const renewed = Math.min(now + idleMs, end);
    if (renewed - expiresAt > renewalStepMs) await reach(this.#redis.pExpireAt(key, renewed));
    return session;
  }

  async revoke(token: string): Promise<void> {
    await reach(this.#redis.del(keyOf(token)));
  }
}

function keyOf(token: string): string {
  return `coppice:session:${tokenHash(token)}`;
}

async function reach<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    throw new Unavailable('the session store cannot be reached; try again later', { cause: error });
  }
}
