import { z } from 'zod';

/** A key of access tokens (AES-256-GCM). */
export interface AccessKey {
  /** When it was created, in seconds since 1970; also its ID. */
  createdAt: number;
  /** 32 bytes. */
  key: Buffer;
}

/** Secret in the release's namespace with the keys, by time of creation. */
export const ACCESS_KEYS_SECRET = 'coppice-access-keys';

/** Maximum validity of an access token, in seconds. */
export const MAX_VALIDITY_SECONDS = 30 * 24 * 3600;

const rotateAfterSeconds = 7 * 24 * 3600;
/** A new key is not used for this time: the kubelet updates a mounted Secret in every replica within two minutes. */
const usableAfterSeconds = 600;
const keyBytes = 32;

/** By time of creation: 32 bytes in base64, as in a Secret's `data`. */
const dataSchema = z.record(z.string(), z.string());

/** Reads the keys from a Secret's `data`, oldest first. Ignores invalid entries. */
export function readAccessKeys(data: unknown): AccessKey[] {
  const parsed = dataSchema.safeParse(data ?? {});
  if (!parsed.success) return [];
  return Object.entries(parsed.data)
    .filter(([name]) => /^[0-9]{10}$/.test(name))
    .map(([name, text]) => ({ createdAt: Number(name), key: Buffer.from(text, 'base64') }))
    .filter(({ key }) => key.length === keyBytes)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** Returns a new key as an entry of the Secret's `data`. @param at in seconds since 1970 */
export function newAccessKey(at: number, randomBytes: (size: number) => Buffer): Record<string, string> {
  return { [String(at)]: randomBytes(keyBytes).toString('base64') };
}

/**
 * Returns the key for new tokens: the newest one that every replica knows by now, or the oldest one right after an
 * installation.
 */
export function sealingKey(keys: readonly AccessKey[], at: number): AccessKey | undefined {
  return keys.findLast(({ createdAt }) => createdAt + usableAfterSeconds <= at) ?? keys[0];
}

/** Plans the rotation: adds a key after a week, and removes keys whose tokens have all expired. */
export function planKeyRotation(keys: readonly AccessKey[], at: number): { add: boolean; remove: AccessKey[] } {
  const newest = keys.at(-1);
  return {
    add: newest === undefined || newest.createdAt + rotateAfterSeconds <= at,
    remove: keys.filter((_, index) => {
      const successor = keys[index + 1];
      return successor !== undefined && successor.createdAt + usableAfterSeconds + MAX_VALIDITY_SECONDS <= at;
    }),
  };
}
