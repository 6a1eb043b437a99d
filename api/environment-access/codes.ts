import { createHash } from 'node:crypto';
import { z } from 'zod';
import { grantSchema, type Grant } from '../../environment-access/tokens.ts';
import { orUnavailable } from '../shared/errors.ts';
import { isSameHash, newToken, tokenHash, type RandomBytes } from '../shared/tokens.ts';

/** The Redis commands that codes need. */
export interface CodeRedis {
  set(key: string, value: string, options: { expiration: { type: 'PX'; value: number } }): Promise<unknown>;
  getDel(key: string): Promise<string | null>;
}

/** Time in which the browser follows the redirect, in milliseconds. */
const validMs = 60_000;

/** What a code stands for. */
export interface GrantedAccess {
  host: string;
  /** UID of the Environment. */
  environment: string;
  /** Where the visitor goes on that host. */
  path: string;
  grant: Grant;
}

const recordSchema = z.object({
  host: z.string(),
  environment: z.string(),
  path: z.string(),
  challenge: z.string(),
  grant: grantSchema,
});

/**
 * One-time codes with which the API sends a visitor back to an environment. A code is bound to a host, and to the browser
 * that came from there: whoever reads it in a URL can do nothing with it.
 */
export class AccessCodes {
  readonly #redis: CodeRedis;
  readonly #randomBytes: RandomBytes;

  constructor(redis: CodeRedis, randomBytes: RandomBytes) {
    this.#redis = redis;
    this.#randomBytes = randomBytes;
  }

  /** Returns a code. @param challenge challengeOf() the browser's secret */
  async issue(granted: GrantedAccess, challenge: string): Promise<string> {
    const code = newToken(this.#randomBytes);
    const expiration = { type: 'PX', value: validMs } as const;
    await reach(this.#redis.set(keyOf(code), JSON.stringify({ ...granted, challenge }), { expiration }));
    return code;
  }

  /** Returns what a code stands for, and deletes it even if host or browser are others; undefined if it is not valid. */
  async redeem(code: string, host: string, secrets: readonly string[]): Promise<GrantedAccess | undefined> {
    const stored = await reach(this.#redis.getDel(keyOf(code)));
    if (stored === null) return undefined;
    const { challenge, ...granted } = recordSchema.parse(JSON.parse(stored));
    const isOwnBrowser = secrets.some((secret) => isSameHash(challenge, challengeOf(secret)));
    return granted.host === host && isOwnBrowser ? granted : undefined;
  }
}

/** Returns what the API learns of a browser's secret: SHA-256 in base64url. */
export function challengeOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function keyOf(code: string): string {
  return `coppice:environment-access:${tokenHash(code)}`;
}

function reach<T>(command: Promise<T>): Promise<T> {
  return orUnavailable(command, 'the visit cannot be completed, because Redis does not respond. Try again later');
}
