import { z } from 'zod';

/** A key that signs credentials (HMAC-SHA256). */
export interface CredentialKey {
  /** When it was created, in seconds since 1970; also its ID. */
  createdAt: number;
  /** 32 bytes. */
  key: Buffer;
}

/** Maximum validity of a credential, in seconds. */
export const MAX_VALIDITY = 14 * 24 * 3600;

const rotateAfter = 30 * 24 * 3600;
/**
 * A new key is not used for this time, in seconds: the kubelet updates a mounted Secret at the token server within two
 * minutes.
 */
const usableAfter = 600;
const day = 24 * 3600;

/** By time of creation: 32 bytes in base64, as in a Secret's `data`. */
const dataSchema = z.record(z.string(), z.string());

/** Returns a new key, created at a time in seconds, as an entry of a Secret's `data`. */
export function newKey(at: number, randomBytes: (length: number) => Buffer): Record<string, string> {
  return { [String(at)]: randomBytes(32).toString('base64') };
}

/** Reads the keys from a Secret's `data`, oldest first. Ignores invalid entries. */
export function readKeys(data: unknown): CredentialKey[] {
  const parsed = dataSchema.safeParse(data ?? {});
  if (!parsed.success) return [];
  return Object.entries(parsed.data)
    .filter(([name]) => /^[0-9]{10}$/.test(name))
    .map(([name, text]) => ({ createdAt: Number(name), key: Buffer.from(text, 'base64') }))
    .filter(({ key }) => key.length === 32)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/**
 * Returns the key to sign with at a time, in seconds: the newest one that every token server knows by then, or the
 * oldest one right after an installation.
 */
export function signingKey(keys: readonly CredentialKey[], at: number): CredentialKey | undefined {
  return keys.findLast(({ createdAt }) => createdAt + usableAfter <= at) ?? keys[0];
}

/**
 * Plans the rotation at a time, in seconds: adds a key after 30 days, and removes keys whose credentials have all
 * expired.
 */
export function planRotation(keys: readonly CredentialKey[], at: number): { add: boolean; remove: CredentialKey[] } {
  const newest = keys.at(-1);
  return {
    add: newest === undefined || newest.createdAt + rotateAfter <= at,
    remove: keys.filter((_, index) => {
      const successor = keys[index + 1];
      return successor !== undefined && successor.createdAt + usableAfter + MAX_VALIDITY + day <= at;
    }),
  };
}
