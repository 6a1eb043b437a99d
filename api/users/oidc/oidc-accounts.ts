import type { RandomBytes } from '../../shared/tokens.ts';
import type { GroupService } from '../../groups/group-service.ts';
import { Conflict, Forbidden } from '../../shared/errors.ts';
import type { Accounts } from '../accounts.ts';
import { requireAllowed, type RegistrationPolicy } from '../registration-policy.ts';
import { identityValue } from '../../user-records/user-indexes.ts';
import { emailField } from '../../http/parse.ts';
import { newAccount, type Identity, type User } from '../../user-records/user-record.ts';
import type { UserStore } from '../../auth/user-store.ts';
import type { Claims } from './provider.ts';

export interface OidcAccountOptions {
  users: UserStore;
  accounts: Pick<Accounts, 'replace'>;
  groups: Pick<GroupService, 'createOwn'>;
  policy: RegistrationPolicy;
  /** E-mail addresses that can register whatever the policy. */
  administrators: readonly string[];
  randomBytes: RandomBytes;
}

/** Finds or creates the account for a login at the provider. */
export class OidcAccounts {
  readonly #options: OidcAccountOptions;

  constructor(options: OidcAccountOptions) {
    this.#options = options;
  }

  /**
   * Finds the account by issuer and subject, which never change. The verified address counts only for accounts without
   * an identity, so that changing an address at the provider does not open another person's account.
   * @throws Forbidden without a verified address, or by the policy; Conflict when the address belongs to another
   * identity
   */
  async userFor({ issuer, subject, email: given, emailVerified }: Claims): Promise<User> {
    const { users, accounts, groups, policy, administrators, randomBytes } = this.#options;
    const identity = { issuer, subject };
    const linked = await users.readByIdentity(identity);
    if (linked) return linked;
    const { data: email } = emailField.safeParse(given);
    if (email === undefined || !emailVerified) {
      throw new Forbidden(
        'the provider has not verified your e-mail address. Have it verified there, then log in again',
      );
    }
    const existing = await users.readByEmail(email);
    if (!existing) {
      if (!administrators.includes(email)) requireAllowed(policy, email);
      const user = await users.create({ ...newAccount(email, randomBytes), verified: true, identity });
      await groups.createOwn(user);
      return user;
    }
    // Another replica linked the account, and the index is not up to date.
    if (isOf(existing, identity)) return existing;
    // The owner of the verified address replaces an unverified account, of which nothing remains.
    if (!existing.verified) return accounts.replace(existing, (fresh) => ({ ...fresh, verified: true, identity }));
    return users.update(existing, (current) => {
      if (current.identity && !isOf(current, identity))
        throw new Conflict(
          "this e-mail address belongs to another person's account. Log in with another address, or ask an administrator",
        );
      return { ...current, identity };
    });
  }
}

function isOf({ identity }: User, other: Identity): boolean {
  return identity !== undefined && identityValue(identity) === identityValue(other);
}
