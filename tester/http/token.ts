import { createHash, timingSafeEqual } from 'node:crypto';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares tokens in constant time. */
export const isToken = (given: string, token: string): boolean => timingSafeEqual(hashOf(given), hashOf(token));
