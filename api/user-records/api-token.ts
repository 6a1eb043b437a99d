import { z } from 'zod';
import { tokenScopesSchema, type Access } from './token-scopes.ts';
import { isSameHash, newToken, tokenHash, type RandomBytes } from '../shared/tokens.ts';

/** What is stored of an API token: everything except the token itself. */
export const apiTokenSchema = z.object({
  name: z.string(),
  /** SHA-256 of the token, in hexadecimal. */
  hash: z.string(),
  /** When the token expires: RFC 3339, in UTC. */
  expiresOn: z.iso.datetime(),
  readOnly: z.boolean(),
  /** Absent if the token has all permissions of its owner. */
  scopes: tokenScopesSchema.optional(),
});
export type ApiToken = z.infer<typeof apiTokenSchema>;

/** An API token without its secret. */
export const apiTokenViewSchema = z.object({
  Name: z.string(),
  ExpiresOn: z.iso.datetime(),
  ReadOnly: z.enum(['true', 'false']),
  Scopes: tokenScopesSchema.optional().meta({
    description: 'Extension: what the token is restricted to; absent if it has all permissions of its owner.',
  }),
});
export type ApiTokenView = z.infer<typeof apiTokenViewSchema>;

export function apiTokenView({ name, expiresOn, readOnly, scopes }: ApiToken): ApiTokenView {
  const view = { Name: name, ExpiresOn: expiresOn, ReadOnly: readOnly ? ('true' as const) : ('false' as const) };
  return scopes ? { ...view, Scopes: scopes } : view;
}

/** Returns what identifies a token, which another one of the same name does not share. Gives no access. */
export function apiTokenId({ hash }: Pick<ApiToken, 'hash'>): string {
  return hash.slice(0, 32);
}

export function accessOf({ readOnly, scopes }: Pick<ApiToken, 'readOnly' | 'scopes'>): Access {
  return readOnly ? 'read' : (scopes?.access ?? 'administer');
}

/**
 * `cpt_`, the name of the user's record, and 256 random bits. The name identifies the one Secret that can contain the
 * token's hash.
 */
const form = /^cpt_([0-9a-f]{32})_[A-Za-z0-9_-]{43}$/;

/**
 * Creates an API token.
 * @param userName `user-` and 32 hexadecimal digits
 * @returns the token, of which only the hash is stored
 */
export function newApiToken(userName: string, randomBytes: RandomBytes): string {
  return `cpt_${userName.slice('user-'.length)}_${newToken(randomBytes)}`;
}

/** Returns the name of the user record that an API token names; undefined for other texts. */
export function apiTokenUser(token: string): string | undefined {
  const digits = form.exec(token)?.[1];
  return digits === undefined ? undefined : `user-${digits}`;
}

/**
 * Returns the stored API token that matches; undefined if none does, or it has expired.
 * @param now milliseconds since 1970
 */
export function findApiToken(tokens: readonly ApiToken[], token: string, now: number): ApiToken | undefined {
  const hash = tokenHash(token);
  return tokens.find((kept) => isSameHash(kept.hash, hash) && now < Date.parse(kept.expiresOn));
}
