import { createHash } from 'node:crypto';

const hashLength = 16;

/**
 * Returns the hash of a text for a name: 80 bits of SHA-256 as 16 characters of base32 (RFC 4648, lower case). Finding
 * two names with equal hashes takes at least 2^40 tries, matching another's name 2^80; with 40 bits that took seconds.
 */
export function nameHash(text: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 20)}`);
  const digits = Array.from({ length: hashLength }, (_, at) => Number((number >> BigInt(5 * at)) & 31n));
  return digits.map((digit) => alphabet[digit]).join('');
}

/** Returns `<text>-<hash>` with at most `limit` characters; the hash is that of `of`. */
export function hashedName(text: string, of: string, limit: number): string {
  const readable = text.slice(0, limit - hashLength - 1).replace(/-+$/, '');
  return readable === '' ? nameHash(of) : `${readable}-${nameHash(of)}`;
}

/** Returns the text in lower case, with a dash for everything except letters and digits; may be empty. */
export function slug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
