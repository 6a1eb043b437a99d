import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import { apiTokenSchema, type ApiToken } from './api-token.ts';

/** The value of LABELS.record on a user's Secret. */
export const USER_RECORD = 'user';

const identitySchema = z.object({ issuer: z.string().min(1), subject: z.string().min(1) });
const accountInvitationSchema = z.object({ hash: z.string(), expiresAt: z.iso.datetime() });

/** Who somebody is to an OpenID Connect provider: unlike the address, the same for ever. */
export type Identity = z.infer<typeof identitySchema>;
/** An administrator's one-time invitation to an account: the SHA-256 of the token alone. */
export type AccountInvitation = z.infer<typeof accountInvitationSchema>;

export interface User {
  /** The Secret's name: a function of the e-mail address. */
  name: string;
  /** Random, and the same after a restore; another account of the same address has another. */
  accountId: string;
  /** In lower case. */
  email: string;
  /** Without one nobody logs in by a password. */
  passwordHash?: string | undefined;
  /** Whether the address was proven to be theirs: only then does it open groups that others made. */
  verified: boolean;
  apiTokens?: readonly ApiToken[] | undefined;
  identity?: Identity | undefined;
  invitation?: AccountInvitation | undefined;
}

/** What every account starts with. @param email in lower case */
export function newAccount(email: string, randomBytes: RandomBytes): Omit<User, 'name'> {
  return { accountId: randomBytes(16).toString('hex'), email, verified: false };
}

/** A field that is kept as JSON. */
function jsonField<T>(schema: z.ZodType<T>) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'is not JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema)
    .optional();
}

const dataSchema = z.object({
  accountId: z.string().min(1),
  email: z.string().min(3),
  passwordHash: z.string().min(1).optional(),
  verified: z.enum(['true', 'false']),
  apiTokens: jsonField(z.array(apiTokenSchema)),
  identity: jsonField(identitySchema),
  invitation: jsonField(accountInvitationSchema),
});

export function userName(email: string): string {
  return `user-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 32)}`;
}

/** The `data` of a user's Secret; null for what there is not, as a merge patch takes a key away. */
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

/** The Secret that keeps a user. */
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

/** The user that a Secret keeps; undefined when it keeps none that can be read, which is as if there were none. */
export function userOf(secret: Secret | undefined): User | undefined {
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined;
  const decoded = Object.keys(secret.data ?? {}).map((key) => [key, secretText(secret, key)]);
  const { data } = dataSchema.safeParse(Object.fromEntries(decoded));
  if (!data || userName(data.email) !== secret.metadata.name) return undefined;
  return { ...data, name: secret.metadata.name, verified: data.verified === 'true' };
}
