import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { GroupService } from '../groups/group-service.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict, Forbidden, Unauthorized } from '../shared/errors.ts';
import { ADDRESS_TAKEN } from '../shared/messages.ts';
import type { Attempts } from './attempts.ts';
import { isInvitedTo } from '../user-records/account-invitation.ts';
import { invalidInvitation, type GroupInvitations } from './group-invitations.ts';
import { requireAllowed, type RegistrationPolicy } from './registration-policy.ts';
import type { Login, PasswordChange, Registration } from './user-parameters.ts';
import { newAccount, type User } from '../user-records/user-record.ts';
import type { UserStore } from '../auth/user-store.ts';

/** Maximum age of a login that can replace entering a password. */
const recentLoginMs = 5 * 60 * 1000;

const wrongLogin = 'the e-mail address or the password is wrong. Correct them, then log in again';

export interface AccountOptions {
  users: UserStore;
  sessions: Sessions;
  passwords: Passwords;
  groups: Pick<GroupService, 'createOwn'>;
  memberships: Pick<Memberships, 'leaveMade'>;
  invitations: GroupInvitations;
  attempts: Attempts;
  policy: RegistrationPolicy;
  /** E-mail addresses in lower case, from the chart. */
  administrators: readonly string[];
  now: () => number;
  randomBytes: RandomBytes;
}

/** Manages what users do with their own accounts. */
export class Accounts {
  readonly #options: AccountOptions;

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  /**
   * Creates an account and a group for it. An administrator's invitation verifies the address, whatever the policy; an
   * invitation to a group opens that group.
   * @throws Forbidden by the policy; Conflict when the address has an account; Invalid when the invitation is not valid
   */
  async register({ email, password, invitation }: Registration): Promise<User> {
    const { users, passwords, groups, invitations, policy, administrators, now, randomBytes } = this.#options;
    // Not limited by the e-mail address: no password is checked here, and other people must not be able to block its
    // owner.
    const existing = await users.readByEmail(email);
    if (existing && invitation !== undefined && isInvitedTo(existing, invitation, now())) {
      return this.#takeUp(existing, invitation, password);
    }
    requireAllowed(policy, email);
    const group = invitation === undefined ? undefined : await invitations.find(invitation, email);
    if (existing) throw new Conflict(ADDRESS_TAKEN);
    const passwordHash = await passwords.hash(password);
    // Registration alone must not verify an administrator's address: it would make its first user an administrator.
    const verified = policy.provesAddress && !administrators.includes(email);
    const user = await users.create({ ...newAccount(email, randomBytes), passwordHash, verified });
    if (group && invitation !== undefined) {
      await invitations.accept(group, user, invitation).catch(async (error: unknown) => {
        // An account that cannot use its invitation is removed, so that its owner can try again.
        await users.remove(user);
        throw error;
      });
    }
    await groups.createOwn(user);
    return user;
  }

  /**
   * Logs in.
   * @param client the program that logs in, as it names itself
   * @returns a token
   * @throws Unauthorized, with the same message and timing whether or not the account exists
   */
  async login({ email, password }: Pick<Login, 'email' | 'password'>, client?: string): Promise<string> {
    const { users, passwords, attempts } = this.#options;
    await attempts.count(email);
    const user = await users.readByEmail(email);
    const isRight = await passwords.verify(password, user?.passwordHash);
    if (!user || !isRight) throw new Unauthorized(wrongLogin);
    const token = await this.startSession(user, client);
    if (token === undefined) throw new Unauthorized(wrongLogin);
    return token;
  }

  /**
   * Starts a session.
   * @returns its token; undefined when the account was removed or its password changed since `user` was read. Such a
   * change first writes the account and then ends the listed sessions; a session listed later sees the change here.
   */
  async startSession({ name, accountId, passwordHash }: User, client?: string): Promise<string | undefined> {
    const { users, sessions } = this.#options;
    const token = await sessions.create({ userName: name, accountId }, client);
    const now = await users.read(name);
    if (now?.accountId === accountId && now.passwordHash === passwordHash) return token;
    await sessions.revoke(token);
    return undefined;
  }

  /**
   * Changes the password and ends all other sessions of the user. API tokens remain valid: they expire and can be
   * deleted individually.
   * @param token the caller's session
   * @throws Forbidden for a wrong current password; Conflict if the account has none
   */
  async changePassword(
    { name, accountId }: User,
    token: string,
    { currentPassword, newPassword }: PasswordChange,
  ): Promise<void> {
    const { users, sessions, passwords, attempts } = this.#options;
    await attempts.countOwn(accountId);
    const user = await users.read(name);
    if (user && user.passwordHash === undefined) {
      throw new Conflict(
        'this account has no password: it logs in by OpenID Connect. Change the password at that provider',
      );
    }
    const isRight = await passwords.verify(currentPassword, user?.passwordHash);
    if (!user || !isRight)
      throw new Forbidden('the current password is wrong. Send the present one as `currentPassword`');
    const passwordHash = await passwords.hash(newPassword);
    // Sessions are ended before the write, so that nothing changes if they cannot be ended, and again after it, because
    // others may have started meanwhile.
    await sessions.revokeAll(user.accountId, token);
    await users.update(user, (current) => {
      if (current.passwordHash !== user.passwordHash)
        throw new Conflict('another request changed the password at the same time. Log in with the new password');
      return { ...current, passwordHash };
    });
    await sessions.revokeAll(user.accountId, token);
  }

  /**
   * Confirms that the caller owns the account: by its password or, without one, by a recent login at the OpenID Connect
   * provider.
   * @throws Forbidden with instructions; TooManyRequests
   */
  async confirm({ name, accountId }: User, token: string, password: string | undefined): Promise<void> {
    const { users, sessions, passwords, attempts, now } = this.#options;
    await attempts.countOwn(accountId);
    const user = await users.read(name);
    if (user && user.passwordHash === undefined) {
      const startedAt = await sessions.startedAt(token);
      if (startedAt !== undefined && now() - startedAt <= recentLoginMs) return;
      throw new Forbidden(
        `this account has no password: log in by OpenID Connect again, then repeat the request within ${recentLoginMs / 60_000} minutes`,
      );
    }
    if (password === undefined) throw new Forbidden('send the password of the account as `password`');
    if (!(await passwords.verify(password, user?.passwordHash)) || !user)
      throw new Forbidden('the password is wrong. Send the password of the account as `password`');
  }

  /** Accepts an invitation for a user who is logged in: opens the group, or verifies the address. @throws Invalid */
  async acceptInvitation(user: User, invitation: string): Promise<User> {
    const { users, invitations, now } = this.#options;
    if (invitation.startsWith('g.')) {
      await invitations.accept(await invitations.find(invitation, user.email), user, invitation);
      return user;
    }
    return users.update(user, (current) => {
      if (!isInvitedTo(current, invitation, now())) throw invalidInvitation();
      return { ...current, verified: true, invitation: undefined };
    });
  }

  /**
   * Replaces an unused or unverified account by a new one. Nothing of an unverified account remains: no login, token or
   * password, and no membership in groups that it created, where its owner may have added others.
   */
  async replace(
    existing: User,
    change: (fresh: Omit<User, 'name'>, current: User) => Omit<User, 'name'>,
  ): Promise<User> {
    const { users, sessions, groups, memberships, randomBytes } = this.#options;
    const fresh = newAccount(existing.email, randomBytes);
    // Groups are left before the write, so that nothing changes if they cannot be left, and again after it, because
    // others may have been created meanwhile.
    await memberships.leaveMade(existing);
    const user = await users.update(existing, (current) => ({ name: current.name, ...change(fresh, current) }));
    await sessions.revokeAll(existing.accountId);
    await memberships.leaveMade(existing);
    await groups.createOwn(user);
    return user;
  }

  async #takeUp(existing: User, invitation: string, password: string): Promise<User> {
    const { passwords, now } = this.#options;
    const passwordHash = await passwords.hash(password);
    return this.replace(existing, (fresh, current) => {
      if (!isInvitedTo(current, invitation, now())) throw invalidInvitation();
      return { ...fresh, passwordHash, verified: true };
    });
  }
}

/** Returns whether an administrator added the address and nobody has logged in with it. */
export function isUnused({ passwordHash, identity }: User): boolean {
  return passwordHash === undefined && identity === undefined;
}
