import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { MAX_VALIDITY, signingKey, type CredentialKey } from './credential-keys.ts';

/** `pull`: all images of a repository. `push`: pull and push images of its trusted builds, or of its untrusted ones. */
export type CredentialActions = 'pull' | 'push';

/** What a credential for the registry permits. */
export interface CredentialClaims {
  /** UID of the Environment that it was issued for. */
  uid: string;
  /** Seconds since 1970. */
  expiresAt: number;
  actions: CredentialActions;
  /** Prefix of the image names, without the registry's host: `acme/shop/`, or `acme.shop.` */
  prefix: string;
}

/** User name of every credential; it has no meaning. */
export const CREDENTIAL_USER = 'coppice';

/** Prefix of the signed text, which prevents using the signature for another purpose. */
const domain = 'coppice registry credential\n';
const maxLength = 512;
const pattern =
  /^v1\.([0-9]{10})\.([0-9A-Za-z-]{1,64})\.([0-9]{10})\.(pull|push)\.([a-z0-9][a-z0-9._/-]*[/.])\.([\w-]{43})$/;

/** Returns `v1.KEY.UID.EXPIRY.ACTIONS.PREFIX.SIGNATURE`; equal claims and keys give equal texts. */
export function signCredential({ uid, expiresAt, actions, prefix }: CredentialClaims, key: CredentialKey): string {
  const signed = ['v1', key.createdAt, uid, expiresAt, actions, prefix].join('.');
  return `${signed}.${signatureOf(signed, key).toString('base64url')}`;
}

/** Returns the claims of a credential; undefined if none of the keys has signed it, or it has expired. */
export function readCredential(text: string, keys: readonly CredentialKey[], now: Date): CredentialClaims | undefined {
  if (text.length > maxLength) return undefined;
  const [, keyId, uid = '', expiry, actions, prefix = '', signature = ''] = pattern.exec(text) ?? [];
  const key = keys.find(({ createdAt }) => String(createdAt) === keyId);
  if (!key || (actions !== 'pull' && actions !== 'push')) return undefined;
  const given = Buffer.from(signature, 'base64url');
  const expected = signatureOf(text.slice(0, -signature.length - 1), key);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const expiresAt = Number(expiry);
  return expiresAt * 1000 > now.getTime() ? { uid, expiresAt, actions, prefix } : undefined;
}

export interface IssuedCredential {
  credential: string;
  /** When issuePullCredential returns another credential. */
  renewAt: Date;
}

/** Half of the maximum validity, in seconds: a credential remains valid for one period after the next one is issued. */
const period = MAX_VALIDITY / 2;

/**
 * Issues a credential for pulls that stays the same for a week and is valid for another one. The weeks of environments
 * start at different times, so that not all are renewed at once. Returns undefined without a key.
 */
export function issuePullCredential(
  { uid, prefix }: Pick<CredentialClaims, 'uid' | 'prefix'>,
  keys: readonly CredentialKey[],
  now: Date,
): IssuedCredential | undefined {
  const offset = createHash('sha256').update(uid).digest().readUInt32BE() % period;
  const seconds = Math.floor(now.getTime() / 1000);
  const start = seconds - ((seconds - offset) % period);
  const key = signingKey(keys, start);
  if (!key) return undefined;
  const claims = { uid, prefix, actions: 'pull', expiresAt: start + 2 * period } as const;
  return { credential: signCredential(claims, key), renewAt: new Date((start + period) * 1000) };
}

/** Issues a credential for one build, valid for `seconds`, at most two weeks. Returns undefined without a key. */
export function issueBuildCredential(
  { uid, prefix }: Pick<CredentialClaims, 'uid' | 'prefix'>,
  seconds: number,
  keys: readonly CredentialKey[],
  now: Date,
): string | undefined {
  const at = Math.floor(now.getTime() / 1000);
  const key = signingKey(keys, at);
  const expiresAt = at + Math.min(seconds, MAX_VALIDITY);
  return key && signCredential({ uid, prefix, actions: 'push', expiresAt }, key);
}

function signatureOf(text: string, { key }: CredentialKey): Buffer {
  return createHmac('sha256', key).update(`${domain}${text}`).digest();
}
