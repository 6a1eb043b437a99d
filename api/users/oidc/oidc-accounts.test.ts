import { expect, test } from '@jest/globals';
import type { User } from '../../user-records/user-record.ts';
import { OidcAccounts } from './oidc-accounts.ts';

const ann: User = { name: 'user-1', accountId: 'a', email: 'ann@example.com', verified: true };
const mine = { issuer: 'https://idp.example', subject: '1' };
const another = { ...mine, subject: '2' };

/**
 * Logs in at a replica whose cache finds no account linked to the identity. `read` is the account that it finds by email
 * address, `meanwhile` the stored one when it writes the link.
 */
function logIn(read: User, meanwhile = read): Promise<User> {
  const users = {
    readByIdentity: () => Promise.resolve(undefined),
    readByEmail: () => Promise.resolve(read),
    update: (_user: User, change: (user: User) => User) => Promise.resolve(meanwhile).then(change),
  };
  const unused = {} as never;
  const parts = {
    users: users as never,
    accounts: unused,
    groups: unused,
    policy: unused,
    administrators: [],
    randomBytes: unused,
  };
  return new OidcAccounts(parts).userFor({ ...mine, email: ann.email, emailVerified: true });
}

test.each<[string, User, User]>([
  ['before it was read', { ...ann, identity: mine }, { ...ann, identity: another }],
  ['since it was read', ann, { ...ann, identity: mine }],
])('uses an account that another replica linked to the same person %s', async (_when, read, meanwhile) => {
  expect(await logIn(read, meanwhile)).toEqual({ ...ann, identity: mine });
});

test.each<[string, User, User]>([
  ['before it was read', { ...ann, identity: another }, { ...ann, identity: another }],
  ['since it was read', ann, { ...ann, identity: another }],
])('refuses an account that was linked to somebody else %s', async (_when, read, meanwhile) => {
  await expect(logIn(read, meanwhile)).rejects.toThrow("another person's account");
});
