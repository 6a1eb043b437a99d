import { createHash, timingSafeEqual } from 'node:crypto';

/** Where randomness comes from; `crypto.randomBytes` but in tests. */
export type RandomBytes = (size: number) => Buffer;

/** 256 bits, base64url: 43 characters. */
export function newToken(randomBytes: RandomBytes): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token, so that who reads the store cannot log in. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Whether two hashes are of one token, in a time that does not say where they differ. */
export function isSameHash(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
