import type { Passwords } from '../auth/passwords.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict } from '../http/errors.ts';
import { newAccount } from './user-record.ts';
import type { UserStore } from './user-store.ts';

export interface FirstAdministrator {
  email: string;
  password: string;
}

/**
 * The account that the chart makes, unless there is one already: its owner may have changed the password. An account that
 * somebody registered under the address without a proof is replaced, with its tokens and its place in the groups that it
 * made; its logins are those of an account that is no more. @returns whether one was made.
 */
export async function ensureAdministrator(
  { email, password }: FirstAdministrator,
  users: Pick<UserStore, 'readByEmail' | 'create' | 'update'>,
  memberships: Pick<Memberships, 'leaveMade'>,
  passwords: Pick<Passwords, 'hash'>,
  randomBytes: RandomBytes,
): Promise<boolean> {
  const existing = await users.readByEmail(email);
  if (existing?.verified) return false;
  const passwordHash = await passwords.hash(password);
  const account = { ...newAccount(email, randomBytes), passwordHash, verified: true };
  try {
    if (existing) {
      // First, so that nobody has the account where groups cannot be left; again for those of the meantime.
      await memberships.leaveMade(existing);
      await users.update(existing, ({ name }) => ({ name, ...account }));
      await memberships.leaveMade(existing);
    } else {
      await users.create(account);
    }
  } catch (error) {
    // Another replica was faster.
    if (!(error instanceof Conflict)) throw error;
    return false;
  }
  return true;
}
