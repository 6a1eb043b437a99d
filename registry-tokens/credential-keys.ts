import { z } from 'zod';

/** A key that credentials are signed with (HMAC-SHA256). */
export interface CredentialKey {
  /** When it was created, in seconds since 1970, which is its id too. */
  createdAt: number;
  /** 32 bytes. */
  key: Buffer;
}

/** The longest time for which a credential is valid, in seconds. */
export const MAX_VALIDITY = 14 * 24 * 3600;

const rotateAfter = 30 * 24 * 3600;
/** The kubelet brings a changed Secret to the token server within two minutes. Until then nothing is signed with a new key. */
const usableAfter = 600;
const day = 24 * 3600;

/** By creation time: base64 of 32 bytes, as a Secret's `data` has them. */
const dataSchema = z.record(z.string(), z.string());

/** Reads the keys from a Secret's `data`, oldest first. Entries that are not keys are left out. */
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
 * Returns the key to sign with at a time, in seconds: the newest that every token server knows by then. Where there is none
 * yet, as after an installation, the oldest.
 */
export function signingKey(keys: readonly CredentialKey[], at: number): CredentialKey | undefined {
  return keys.findLast(({ createdAt }) => createdAt + usableAfter <= at) ?? keys[0];
}

/** Plans the rotation at a time, in seconds: a new key after 30 days, and removal once nothing valid can be signed with one. */
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
