import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { MAX_VALIDITY_SECONDS, sealingKey, type AccessKey } from './keys.ts';

/** Header with which programs send an access token; the environment's services never receive it. */
export const ACCESS_HEADER = 'x-coppice-environment-access';

/** Who has access, and what ends it before the token does. */
export const grantSchema = z.discriminatedUnion('kind', [
  /** A member of the group, while their login lasts. `session` names the login (Sessions.nameOf) and gives no access. */
  z.object({ kind: z.literal('member'), user: z.string(), account: z.string(), session: z.string() }),
  /** Somebody who knew the password, until it changes. `secret`: a hash of the stored password. */
  z.object({ kind: z.literal('password'), secret: z.string() }),
  /**
   * The holder of a link or a header, while the account that made it sees the environment. `apiToken` identifies the API
   * token that made it (apiTokenId), which must still be valid.
   */
  z.object({
    kind: z.literal('link'),
    user: z.string(),
    account: z.string(),
    apiToken: z.string().optional(),
    /** By which it can be ended. */
    id: z.string().optional(),
    /** In seconds since 1970. */
    madeAt: z.int().optional(),
  }),
  /** A test of the environment. */
  z.object({ kind: z.literal('test') }),
]);
export type Grant = z.infer<typeof grantSchema>;

const claimsSchema = z.object({
  /** `host`: a cookie, for one host. `environment`: a link or a header, for all hosts of one environment. */
  use: z.enum(['host', 'environment']),
  /** The host of the cookie, or the empty string. */
  host: z.string(),
  /** UID of the Environment. */
  environment: z.string().min(1),
  grant: grantSchema,
  /** In seconds since 1970. */
  expiresAt: z.int(),
});
export type AccessClaims = z.infer<typeof claimsSchema>;

/** Longer texts are not opened. A token has about 400 characters. */
const maxLength = 2048;
/** Part of what is authenticated, so that nothing that was encrypted for another purpose is accepted. */
const purpose = Buffer.from('coppice environment access 1');
const nonceBytes = 12;
const tagBytes = 16;
const cipherName = 'aes-256-gcm';

/**
 * Encrypts and authenticates claims: a link names the account that made it to nobody.
 * @throws Error if there is no key, or the claims are valid for longer than the keys are kept
 * @param at in seconds since 1970
 */
export function sealAccess(claims: AccessClaims, keys: readonly AccessKey[], at: number): string {
  const used = sealingKey(keys, at);
  if (!used) throw new Error('there is no key for access tokens. The operator creates it: check that it runs');
  if (claims.expiresAt > at + MAX_VALIDITY_SECONDS) throw new Error('an access token would outlive its key');
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, used.key, nonce).setAAD(purpose);
  const sealed = [nonce, cipher.update(JSON.stringify(claims)), cipher.final(), cipher.getAuthTag()];
  return `${used.createdAt}.${Buffer.concat(sealed).toString('base64url')}`;
}

/** Returns the claims of a token that was sealed with one of the keys and has not expired; undefined otherwise. */
export function openAccess(token: string, keys: readonly AccessKey[], at: number): AccessClaims | undefined {
  if (token.length > maxLength) return undefined;
  const [, id, text = ''] = /^(\d{10})\.([A-Za-z0-9_-]+)$/.exec(token) ?? [];
  const used = keys.find(({ createdAt }) => String(createdAt) === id);
  const sealed = Buffer.from(text, 'base64url');
  if (!used || sealed.length <= nonceBytes + tagBytes) return undefined;
  const opened = decrypt(sealed, used);
  const claims = opened === undefined ? undefined : claimsSchema.safeParse(JSON.parse(opened)).data;
  return claims && at < claims.expiresAt ? claims : undefined;
}

function decrypt(sealed: Buffer, { key }: AccessKey): string | undefined {
  const decipher = createDecipheriv(cipherName, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(purpose).setAuthTag(sealed.subarray(-tagBytes));
  const opened = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([opened, decipher.final()]).toString();
  } catch {
    // The only failure of final() is a wrong tag: another key or another text.
    return undefined;
  }
}
