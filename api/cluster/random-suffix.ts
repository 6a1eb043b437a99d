import type { RandomBytes } from '../auth/tokens.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Five characters that a resource name may end in, for names that must not meet. */
export function randomSuffix(randomBytes: RandomBytes): string {
  return Array.from(randomBytes(5), (byte) => alphabet[byte % alphabet.length]).join('');
}
