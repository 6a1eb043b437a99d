import type { Sessions } from '../auth/sessions.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict, NotFound } from '../shared/errors.ts';
import { newAccountInvitation } from '../user-records/account-invitation.ts';
import type { Invitation } from '../user-records/group-invitation.ts';
import { newAccount, type User } from '../user-records/user-record.ts';
import type { UserStore } from '../auth/user-store.ts';

/** Ends the memberships of deleted accounts. */
export interface EndedMemberships extends Pick<Memberships, 'leaveAll' | 'leaveSeen' | 'leaveMade'> {
  /** Returns the IDs of the groups with repositories that have no other owner. */
  ownedAlone: (user: User) => string[];
}

export interface AdministrationOptions {
  users: UserStore;
  sessions: Sessions;
  memberships: EndedMemberships;
  /** E-mail addresses in lower case, from the chart. */
  administrators: readonly string[];
  now: () => number;
  randomBytes: RandomBytes;
}

/** Manages the accounts of other users, for administrators. */
export class Administration {
  readonly #options: AdministrationOptions;

  constructor(options: AdministrationOptions) {
    this.#options = options;
  }

  /**
   * Returns whether the user is an administrator. Only a verified address counts: registering an administrator's
   * address grants nothing.
   */
  isAdministrator({ email, verified }: User): boolean {
    return verified && this.#options.administrators.includes(email);
  }

  list(): User[] {
    return this.#options.users.list();
  }

  /**
   * Adds an address and invites its owner. An unverified account of the address is kept until the owner accepts; the
   * owner's account then replaces it completely.
   * @throws Conflict when the address has a verified account
   */
  async invite(email: string): Promise<Invitation> {
    const { users, now, randomBytes } = this.#options;
    const { kept, ...invitation } = newAccountInvitation(now(), randomBytes);
    const existing = await users.readByEmail(email);
    if (!existing) {
      await users.create({ ...newAccount(email, randomBytes), invitation: kept });
      return invitation;
    }
    await users.update(existing, (current) => {
      if (current.verified)
        throw new Conflict(
          'this e-mail address already has an account. Its user can log in; to create a new account, remove this one first',
        );
      return { ...current, invitation: kept };
    });
    return invitation;
  }

  /**
   * Removes an account with its logins, tokens and memberships, so that a later account of the address inherits none of
   * them.
   * @returns the names of groups that have no members left
   * @throws NotFound, Conflict
   */
  async remove(email: string): Promise<string[]> {
    const { users, memberships } = this.#options;
    const user = await users.readByEmail(email);
    if (!user) throw new NotFound('there is no user with this address. GET /api/users lists all');
    this.#requireUnnamed(email);
    return this.#end(user, () => memberships.leaveAll(email), undefined);
  }

  /**
   * Removes the account of a caller who has confirmed their identity. It leaves the groups that it sees. If its address
   * is not verified, an administrator's invitation and memberships of the address remain for the address's owner.
   * @returns the names of groups that have no members left
   * @throws Conflict when a group with repositories would have no owner, or the chart names the address
   */
  async removeOwn({ name, accountId }: User): Promise<string[]> {
    const { users, memberships, randomBytes } = this.#options;
    const user = await users.read(name);
    if (user?.accountId !== accountId) throw new NotFound('your account has already been removed');
    const { email, verified, invitation } = user;
    this.#requireUnnamed(email);
    const owned = memberships.ownedAlone(user);
    if (owned.length > 0) {
      throw new Conflict(
        `nobody else owns these groups, which have repositories: ${owned.join(', ')}. ` +
          'Make another member an owner (PATCH /api/group/ID/members/EMAIL {"role": "owner"}), or delete the groups',
      );
    }
    const kept = !verified && invitation ? { ...newAccount(email, randomBytes), invitation } : undefined;
    return this.#end(user, () => memberships.leaveSeen(user), kept);
  }

  #requireUnnamed(email: string): void {
    if (!this.#options.administrators.includes(email)) return;
    throw new Conflict("the chart names this address as an administrator. Remove it from the chart's values first");
  }

  /**
   * Removes the account's sessions and memberships, then deletes the account, or resets it to `kept`.
   * @returns the result of `leave`
   */
  async #end(user: User, leave: () => Promise<string[]>, kept: Omit<User, 'name'> | undefined): Promise<string[]> {
    const { users, sessions, memberships } = this.#options;
    // Sessions are ended and groups left before the write, so that nothing changes if that fails, and again after it,
    // because other sessions and groups may have been created meanwhile.
    await sessions.revokeAll(user.accountId);
    const left = await leave();
    if (kept) await users.update(user, ({ name }) => ({ name, ...kept }));
    else await users.remove(user);
    await sessions.revokeAll(user.accountId);
    await memberships.leaveMade(user);
    return left;
  }
}
