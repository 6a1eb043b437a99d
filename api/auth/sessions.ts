import { z } from 'zod';
import { orUnavailable } from '../shared/errors.ts';
import { newToken, tokenHash, type RandomBytes } from '../shared/tokens.ts';

const minute = 60 * 1000;
const day = 24 * 60 * minute;
/** A token expires after 24 h without use, and after 30 days in any case. */
const idleMs = day;
const maxMs = 30 * day;
/** A use renews the token only if that extends it by more than this, so that most reads cause no write. */
const renewalStepMs = 5 * minute;
/** Limit per account; one more ends the oldest. */
const maxSessions = 200;

/**
 * What is stored for a login. The account is identified twice, because a later account can have the same e-mail
 * address.
 */
export interface Session {
  userName: string;
  accountId: string;
}

/** The Redis commands that sessions need. */
export interface SessionRedis {
  set(key: string, value: string, options: { expiration: { type: 'PXAT'; value: number } }): Promise<unknown>;
  get(key: string): Promise<string | null>;
  pExpireTime(key: string): Promise<number>;
  /** Does nothing if the key is gone, so that a renewal cannot restore a token. */
  pExpireAt(key: string, milliseconds: number): Promise<unknown>;
  del(keys: string | string[]): Promise<unknown>;
  hSet(key: string, field: string, value: string): Promise<unknown>;
  hGetAll(key: string): Promise<Record<string, string>>;
  hDel(key: string, fields: string | string[]): Promise<unknown>;
}

const recordSchema = z.object({
  userName: z.string(),
  accountId: z.string(),
  createdAt: z.int(),
  client: z.string().optional(),
});

/** A session as its account sees it. Times are in milliseconds since the epoch. */
export interface ListedSession {
  /** Derived from the hash of the token: it gives no access. */
  id: string;
  createdAt: number;
  /** The last use, within some minutes. */
  usedAt: number;
  /** When it ends without further use. */
  expiresAt: number;
  /** The program that logged in, as it named itself. */
  client?: string;
  isCurrent: boolean;
}

/** Maximum length of the name of a program. */
const maxClient = 200;
const idLength = 16;

/**
 * Stores login tokens in Redis as SHA-256 hashes: valid for 24 h, renewed by use, at most 30 days. Each account's are
 * listed by start time, so that all of them can be ended for all replicas.
 */
export class Sessions {
  readonly #redis: SessionRedis;
  readonly #now: () => number;
  readonly #randomBytes: RandomBytes;

  constructor(redis: SessionRedis, now: () => number, randomBytes: RandomBytes) {
    this.#redis = redis;
    this.#now = now;
    this.#randomBytes = randomBytes;
  }

  /**
   * Creates a session.
   * @param client the program that logs in, as it names itself
   * @returns its token, which is stored only as a hash
   */
  async create(session: Session, client?: string): Promise<string> {
    const token = newToken(this.#randomBytes);
    const createdAt = this.#now();
    const value = JSON.stringify({ ...session, createdAt, ...(client && { client: client.slice(0, maxClient) }) });
    const expiration = { type: 'PXAT', value: createdAt + idleMs } as const;
    // In this order: a session is listed before it is valid, so that ending all sessions includes it.
    await reach(this.#redis.set(keyOf(token), value, { expiration }));
    await reach(this.#list(session.accountId, keyOf(token), createdAt));
    return token;
  }

  /** Returns the login of the token and renews it; undefined if the token is not valid. */
  async find(token: string): Promise<Session | undefined> {
    const key = keyOf(token);
    const [value, expiresAt] = await reach(Promise.all([this.#redis.get(key), this.#redis.pExpireTime(key)]));
    if (value === null) return undefined;
    const { createdAt, userName, accountId } = recordSchema.parse(JSON.parse(value));
    const now = this.#now();
    const end = createdAt + maxMs;
    if (now >= end) return undefined;
    const renewed = Math.min(now + idleMs, end);
    if (renewed - expiresAt > renewalStepMs) await reach(this.#redis.pExpireAt(key, renewed));
    return { userName, accountId };
  }

  /** Returns the name of a login, which gives no access. */
  nameOf(token: string): string {
    return keyOf(token);
  }

  /** Returns whether the login of this name is valid, without renewing it. */
  async isValid(name: string): Promise<boolean> {
    const value = await reach(this.#redis.get(name));
    return value !== null && this.#now() < recordSchema.parse(JSON.parse(value)).createdAt + maxMs;
  }

  /** Returns when a login started, in milliseconds since the epoch; undefined for a token that is not a login's. */
  async startedAt(token: string): Promise<number | undefined> {
    const value = await reach(this.#redis.get(keyOf(token)));
    return value === null ? undefined : recordSchema.parse(JSON.parse(value)).createdAt;
  }

  async revoke(token: string): Promise<void> {
    await reach(this.#redis.del(keyOf(token)));
  }

  /** Returns the sessions of an account, those used last first. @param current the token of the caller */
  async list(accountId: string, current: string): Promise<ListedSession[]> {
    const keys = Object.keys(await reach(this.#redis.hGetAll(listOf(accountId))));
    const read = async (key: string): Promise<ListedSession[]> => {
      const [value, expiresAt] = await reach(Promise.all([this.#redis.get(key), this.#redis.pExpireTime(key)]));
      // The list still names sessions that have expired.
      if (value === null || expiresAt <= this.#now()) return [];
      const { createdAt, client } = recordSchema.parse(JSON.parse(value));
      const usedAt = Math.max(createdAt, expiresAt - idleMs);
      const isCurrent = key === keyOf(current);
      return [{ id: idOf(key), createdAt, usedAt, expiresAt, ...(client !== undefined && { client }), isCurrent }];
    };
    const sessions = (await Promise.all(keys.map(read))).flat();
    return sessions.sort((a, b) => b.usedAt - a.usedAt || b.createdAt - a.createdAt);
  }

  /** Ends a session of an account. @returns whether the account had it */
  async revokeListed(accountId: string, id: string): Promise<boolean> {
    const list = listOf(accountId);
    const keys = Object.keys(await reach(this.#redis.hGetAll(list)));
    const chosen = keys.filter((key) => idOf(key) === id);
    await this.#forget(list, chosen);
    return chosen.length > 0;
  }

  /** Ends every session of an account except that of the given token. */
  async revokeAll(accountId: string, except?: string): Promise<void> {
    const list = listOf(accountId);
    const keys = Object.keys(await reach(this.#redis.hGetAll(list)));
    const kept = except === undefined ? undefined : keyOf(except);
    await this.#forget(
      list,
      keys.filter((key) => key !== kept),
    );
  }

  async #list(accountId: string, key: string, createdAt: number): Promise<void> {
    const list = listOf(accountId);
    await this.#redis.hSet(list, key, String(createdAt));
    await this.#redis.pExpireAt(list, createdAt + maxMs);
    const listed = Object.entries(await this.#redis.hGetAll(list));
    if (listed.length <= maxSessions) return;
    const ends = await Promise.all(listed.map(([other]) => this.#redis.pExpireTime(other)));
    const isGone = (other: string, index: number) => ends[index] === -2 && other !== key;
    const live = listed.filter(([other], index) => !isGone(other, index)).sort(([, a], [, b]) => Number(b) - Number(a));
    const kept = new Set(live.slice(0, maxSessions).map(([other]) => other));
    await this.#forget(
      list,
      listed.map(([other]) => other).filter((other) => !kept.has(other)),
    );
  }

  async #forget(list: string, keys: string[]): Promise<void> {
    if (keys.length === 0) return;
    await reach(this.#redis.del(keys));
    await reach(this.#redis.hDel(list, keys));
  }
}

function listOf(accountId: string): string {
  return `coppice:sessions-of:${accountId}`;
}

function keyOf(token: string): string {
  return `coppice:session:${tokenHash(token)}`;
}

function idOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1).slice(0, idLength);
}

function reach<T>(command: Promise<T>): Promise<T> {
  return orUnavailable(command, 'the session store cannot be reached. Try again later');
}
