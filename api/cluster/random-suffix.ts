import type { RandomBytes } from '../shared/tokens.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Returns five characters that make a resource name unique. */
export function randomSuffix(randomBytes: RandomBytes): string {
  return Array.from(randomBytes(5), (byte) => alphabet[byte % alphabet.length]).join('');
}
