import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';

/** The value of LABELS.record on a user's Secret. */
export const USER_RECORD = 'user';

export interface User {
  /** The Secret's name: a function of the e-mail address. */
  name: string;
  /** Random, and the same after a restore; another account of the same address has another. */
  accountId: string;
  /** In lower case. */
  email: string;
  passwordHash: string;
  /** Whether the address was proven to be theirs: only then does it open groups that others made. */
  verified: boolean;
}

const dataSchema = z.object({
  accountId: z.string().min(1),
  email: z.string().min(3),
  passwordHash: z.string().min(1),
  verified: z.enum(['true', 'false']),
});

export function userName(email: string): string {
  return `user-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 32)}`;
}

/** The Secret that keeps a user. */
export function userSecret(user: Omit<User, 'name'>, namespace: string): Secret {
  const fields = { ...user, verified: String(user.verified) };
  const encode = (text: string) => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: userName(user.email),
      labels: { [LABELS.managedBy]: MANAGED_BY, [LABELS.record]: USER_RECORD },
    },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, encode(value)])),
  };
}

/** The user that a Secret keeps; undefined when it keeps none that can be read, which is as if there were none. */
export function userOf(secret: Secret | undefined): User | undefined {
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined;
  const decoded = Object.entries(secret.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString(),
  ]);
  const { data } = dataSchema.safeParse(Object.fromEntries(decoded));
  if (!data || userName(data.email) !== secret.metadata.name) return undefined;
  return { ...data, name: secret.metadata.name, verified: data.verified === 'true' };
}
