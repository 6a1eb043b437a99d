import type { Sessions } from '../auth/sessions.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict, NotFound } from '../http/errors.ts';
import { newAccountInvitation } from './account-invitation.ts';
import type { Invitation } from './group-invitation.ts';
import { newAccount, type User } from './user-record.ts';
import type { UserStore } from './user-store.ts';

export interface AdministrationDependencies {
  users: UserStore;
  sessions: Sessions;
  memberships: Pick<Memberships, 'leaveAll'>;
  /** Addresses in lower case, from the chart. */
  administrators: readonly string[];
  now: () => number;
  randomBytes: RandomBytes;
}

/** What administrators do with the accounts of others. */
export class Administration {
  readonly #dependencies: AdministrationDependencies;

  constructor(dependencies: AdministrationDependencies) {
    this.#dependencies = dependencies;
  }

  /** By proven address alone: to register an administrator's address makes nobody one. */
  isAdministrator({ email, verified }: User): boolean {
    return verified && this.#dependencies.administrators.includes(email);
  }

  list(): User[] {
    return this.#dependencies.users.list();
  }

  /**
   * Adds an address, and invites its owner to log in under it. An account that somebody registered without a proof stays
   * as it is until the owner comes: then it is theirs, and nothing of the other's stays.
   * @throws Conflict when the address has a proven account.
   */
  async invite(email: string): Promise<Invitation> {
    const { users, now, randomBytes } = this.#dependencies;
    const { kept, ...invitation } = newAccountInvitation(now(), randomBytes);
    const existing = await users.readByEmail(email);
    if (!existing) {
      await users.create({ ...newAccount(email, randomBytes), invitation: kept });
      return invitation;
    }
    await users.update(existing, (current) => {
      if (current.verified) throw new Conflict('this e-mail address has an account already');
      return { ...current, invitation: kept };
    });
    return invitation;
  }

  /**
   * Removes an account with its logins, tokens and memberships: whoever gets the address later gets none of them.
   * @returns the names of the groups that nobody is a member of any more. @throws NotFound
   */
  async remove(email: string): Promise<string[]> {
    const { users, sessions, memberships, administrators } = this.#dependencies;
    const user = await users.readByEmail(email);
    if (!user) throw new NotFound('no such user');
    if (administrators.includes(email)) {
      throw new Conflict('the chart names this address as an administrator; take it out of its values first');
    }
    // First, so that nothing is begun where sessions cannot be ended; again for those of the meantime.
    await sessions.revokeAll(user.accountId);
    const left = await memberships.leaveAll(email);
    await users.remove(user);
    await sessions.revokeAll(user.accountId);
    return left;
  }
}
