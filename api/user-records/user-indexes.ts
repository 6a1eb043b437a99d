import type { IndexFunction } from '../../kubernetes/object-store.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { userOf, type Identity } from './user-record.ts';

export function identityValue({ issuer, subject }: Identity): string {
  return JSON.stringify([issuer, subject]);
}

const byIdentity: IndexFunction<Secret> = (secret) => {
  const identity = userOf(secret)?.identity;
  return identity ? [identityValue(identity)] : [];
};

export const USER_INDEXES = { all: () => [''], identity: byIdentity };
