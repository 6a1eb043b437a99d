import { createHash } from 'node:crypto';

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
