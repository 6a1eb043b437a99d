import type { Passwords } from '../auth/passwords.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict } from '../shared/errors.ts';
import { newAccount } from '../user-records/user-record.ts';
import type { UserStore } from '../auth/user-store.ts';

export interface FirstAdministrator {
  email: string;
  password: string;
}

/**
 * Creates the administrator's account from the chart, unless it exists: its owner may have changed the password.
 * Replaces an unverified account of the address, with its tokens, logins and memberships in groups that it created.
 * @returns whether the account was created
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
      // Groups are left before the write, so that nothing changes if they cannot be left, and again after it, because
      // others may have been created meanwhile.
      await memberships.leaveMade(existing);
      await users.update(existing, ({ name }) => ({ name, ...account }));
      await memberships.leaveMade(existing);
    } else {
      await users.create(account);
    }
  } catch (error) {
    // Another replica has created the account.
    if (!(error instanceof Conflict)) throw error;
    return false;
  }
  return true;
}
