import { createHash, timingSafeEqual } from 'node:crypto';

/** Source of randomness; `crypto.randomBytes` except in tests. */
export type RandomBytes = (size: number) => Buffer;

/** Returns a new token of 256 random bits: 43 characters of base64url. */
export function newToken(randomBytes: RandomBytes): string {
  return randomBytes(32).toString('base64url');
}

/** Returns what is stored of a token; it cannot be used to log in. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Compares two hashes in constant time. */
export function isSameHash(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
