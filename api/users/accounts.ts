import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { GroupService } from '../groups/group-service.ts';
import type { Memberships } from '../groups/memberships.ts';
import { Conflict, Forbidden, Unauthorized } from '../http/errors.ts';
import type { Attempts } from './attempts.ts';
import { isInvitedTo } from './account-invitation.ts';
import { invalidInvitation, type GroupInvitations } from './group-invitations.ts';
import { requireAllowed, type RegistrationPolicy } from './registration-policy.ts';
import type { Login, PasswordChange, Registration } from './user-parameters.ts';
import { newAccount, type User } from './user-record.ts';
import type { UserStore } from './user-store.ts';

/** How old a login may be that stands for a password. */
const recentLoginMs = 5 * 60 * 1000;

export interface AccountOptions {
  users: UserStore;
  sessions: Sessions;
  passwords: Passwords;
  groups: Pick<GroupService, 'createOwn'>;
  memberships: Pick<Memberships, 'leaveMade'>;
  invitations: GroupInvitations;
  attempts: Attempts;
  policy: RegistrationPolicy;
  /** Addresses in lower case, from the chart. */
  administrators: readonly string[];
  now: () => number;
  randomBytes: RandomBytes;
}

/** What users do with their own accounts. */
export class Accounts {
  readonly #options: AccountOptions;

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  /**
   * An account and a group of its own. An administrator's invitation proves the address, whatever the policy is; one to
   * a group opens that group.
   * @throws Forbidden by the policy; Conflict when the address has an account; Invalid when the invitation is not valid.
   */
  async register({ email, password, invitation }: Registration): Promise<User> {
    const { users, passwords, groups, invitations, policy, administrators, now, randomBytes } = this.#options;
    // Not counted by the address: no password is tried here, and others must not keep its owner from coming.
    const existing = await users.readByEmail(email);
    if (existing && invitation !== undefined && isInvitedTo(existing, invitation, now())) {
      return this.#takeUp(existing, invitation, password);
    }
    requireAllowed(policy, email);
    const group = invitation === undefined ? undefined : await invitations.find(invitation, email);
    if (existing) throw new Conflict('this e-mail address already has an account');
    const passwordHash = await passwords.hash(password);
    // Whoever registers first under an administrator's address would be one.
    const verified = policy.provesAddress && !administrators.includes(email);
    const user = await users.create({ ...newAccount(email, randomBytes), passwordHash, verified });
    if (group && invitation !== undefined) {
      await invitations.accept(group, user, invitation).catch(async (error: unknown) => {
        // Who is not let in has no account either, and may come again.
        await users.remove(user);
        throw error;
      });
    }
    await groups.createOwn(user);
    return user;
  }

  /** @returns a token. @throws Unauthorized, after the same time and in the same words whether there is an account. */
  async login({ email, password }: Login): Promise<string> {
    const { users, passwords, attempts } = this.#options;
    await attempts.count(email);
    const user = await users.readByEmail(email);
    const isRight = await passwords.verify(password, user?.passwordHash);
    if (!user || !isRight) throw new Unauthorized('the e-mail address or the password is wrong');
    const token = await this.startSession(user);
    if (token === undefined) throw new Unauthorized('the e-mail address or the password is wrong');
    return token;
  }

  /**
   * @returns a token; undefined when the account was removed, or its password changed, since it was read: who does that
   * ends the sessions that are listed after it is written, and those listed later see here what was written.
   */
  async startSession({ name, accountId, passwordHash }: User): Promise<string | undefined> {
    const { users, sessions } = this.#options;
    const token = await sessions.create({ userName: name, accountId });
    const now = await users.read(name);
    if (now?.accountId === accountId && now.passwordHash === passwordHash) return token;
    await sessions.revoke(token);
    return undefined;
  }

  /**
   * Ends all other sessions of the user. API tokens stay: they have names, ends, and a DELETE of their own.
   * @param token the session's that asks. @throws Forbidden for a wrong current password; Conflict without one.
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
      throw new Conflict('this account has no password: it logs in by OpenID Connect');
    }
    const isRight = await passwords.verify(currentPassword, user?.passwordHash);
    if (!user || !isRight) throw new Forbidden('the current password is wrong');
    const passwordHash = await passwords.hash(newPassword);
    // First, so that nothing is changed where sessions cannot be ended; again for those of the meantime.
    await sessions.revokeAll(user.accountId, token);
    await users.update(user, (current) => {
      if (current.passwordHash !== user.passwordHash) throw new Conflict('the password was changed at the same time');
      return { ...current, passwordHash };
    });
    await sessions.revokeAll(user.accountId, token);
  }

  /**
   * Confirms that who holds a login is the account's owner: by its password or, where it has none, by a login of the
   * last minutes at the OpenID Connect provider. @throws Forbidden, which says what to do; TooManyRequests
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
    if (!(await passwords.verify(password, user?.passwordHash)) || !user) throw new Forbidden('the password is wrong');
  }

  /** By who is logged in already: opens the group, or proves the address. @throws Invalid */
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
   * A new account in place of what stood there: an invited address that nobody has taken, or an account that somebody
   * registered without a proof of it. Nothing of the latter stays: no login, token or password, and no place in a group
   * that they made, where others may be whom they let in.
   */
  async replace(
    existing: User,
    change: (fresh: Omit<User, 'name'>, current: User) => Omit<User, 'name'>,
  ): Promise<User> {
    const { users, sessions, groups, memberships, randomBytes } = this.#options;
    const fresh = newAccount(existing.email, randomBytes);
    // First, so that nobody has the account where groups cannot be left; again for those of the meantime.
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

/** An address that an administrator added, and nobody has logged in with. */
export function isUnused({ passwordHash, identity }: User): boolean {
  return passwordHash === undefined && identity === undefined;
}
