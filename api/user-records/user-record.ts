import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../kubernetes/secret-texts.ts';
import { jsonText } from '../shared/json-text.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import { apiTokenSchema, type ApiToken } from './api-token.ts';

/** The value of LABELS.record on a user's Secret. */
export const USER_RECORD = 'user';

const identitySchema = z.object({ issuer: z.string().min(1), subject: z.string().min(1) });
const accountInvitationSchema = z.object({ hash: z.string(), expiresAt: z.iso.datetime() });

/** A user's identity at an OpenID Connect provider; unlike an address, it never changes. */
export type Identity = z.infer<typeof identitySchema>;
/** An administrator's one-time invitation to an account; only the token's SHA-256 is stored. */
export type AccountInvitation = z.infer<typeof accountInvitationSchema>;

export interface User {
  /** Name of the Secret, derived from the e-mail address. */
  name: string;
  /** Random and never changes; a later account of the same address has another one. */
  accountId: string;
  /** In lower case. */
  email: string;
  /** Absent if the account cannot log in with a password. */
  passwordHash?: string | undefined;
  /** Whether the address was verified; only then does it give access to groups created by others. */
  verified: boolean;
  apiTokens?: readonly ApiToken[] | undefined;
  identity?: Identity | undefined;
  invitation?: AccountInvitation | undefined;
}

/** Returns the fields of a new account. @param email in lower case */
export function newAccount(email: string, randomBytes: RandomBytes): Omit<User, 'name'> {
  return { accountId: randomBytes(16).toString('hex'), email, verified: false };
}

const dataSchema = z.object({
  accountId: z.string().min(1),
  email: z.string().min(3),
  passwordHash: z.string().min(1).optional(),
  verified: z.enum(['true', 'false']),
  apiTokens: jsonText(z.array(apiTokenSchema)).optional(),
  identity: jsonText(identitySchema).optional(),
  invitation: jsonText(accountInvitationSchema).optional(),
});

export function userName(email: string): string {
  return `user-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 32)}`;
}

/** Returns the `data` of a user's Secret; null for absent fields, so that a merge patch removes their keys. */
export function userData(user: Omit<User, 'name'>): Record<string, string | null> {
  const texts = {
    accountId: user.accountId,
    email: user.email,
    passwordHash: user.passwordHash,
    verified: String(user.verified),
    apiTokens: user.apiTokens?.length ? JSON.stringify(user.apiTokens) : undefined,
    identity: user.identity && JSON.stringify(user.identity),
    invitation: user.invitation && JSON.stringify(user.invitation),
  };
  const given = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const absent = Object.keys(texts).map((key) => [key, null] as const);
  return { ...Object.fromEntries(absent), ...encodeTexts(Object.fromEntries(given)) };
}

/** Returns the Secret that stores a user. */
export function userSecret(user: Omit<User, 'name'>, namespace: string): Secret {
  const data = Object.entries(userData(user)).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: userName(user.email),
      labels: { [LABELS.managedBy]: MANAGED_BY, [LABELS.record]: USER_RECORD },
    },
    type: 'Opaque',
    data: Object.fromEntries(data),
  };
}

/** Returns the user that a Secret stores; undefined if it stores none or is not valid. */
export function userOf(secret: Secret | undefined): User | undefined {
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined;
  const decoded = Object.keys(secret.data ?? {}).map((key) => [key, secretText(secret, key)]);
  const { data } = dataSchema.safeParse(Object.fromEntries(decoded));
  if (!data || userName(data.email) !== secret.metadata.name) return undefined;
  return { ...data, name: secret.metadata.name, verified: data.verified === 'true' };
}
