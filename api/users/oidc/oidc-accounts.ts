import type { RandomBytes } from '../../auth/tokens.ts';
import type { GroupService } from '../../groups/group-service.ts';
import { Conflict, Forbidden } from '../../http/errors.ts';
import type { Accounts } from '../accounts.ts';
import { requireAllowed, type RegistrationPolicy } from '../registration-policy.ts';
import { identityValue } from '../user-indexes.ts';
import { emailField } from '../user-parameters.ts';
import { newAccount, type Identity, type User } from '../user-record.ts';
import type { UserStore } from '../user-store.ts';
import type { Claims } from './provider.ts';

export interface OidcAccountOptions {
  users: UserStore;
  accounts: Pick<Accounts, 'replace'>;
  groups: Pick<GroupService, 'createOwn'>;
  policy: RegistrationPolicy;
  /** May come whatever the policy is. */
  administrators: readonly string[];
  randomBytes: RandomBytes;
}

/** Whose account it is that somebody logged in to at the provider. */
export class OidcAccounts {
  readonly #options: OidcAccountOptions;

  constructor(options: OidcAccountOptions) {
    this.#options = options;
  }

  /**
   * By issuer and subject, which stay; by the verified address only where the account has no identity yet. So an address
   * that was changed at the provider opens no account of somebody else.
   * @throws Forbidden without a verified address, or by the policy; Conflict when the address is another identity's.
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
    // Linked by another replica, which the index has not heard of yet.
    if (isOf(existing, identity)) return existing;
    // An account that nobody has proven to be theirs goes to who has: nothing of the other's stays.
    if (!existing.verified) return accounts.replace(existing, (fresh) => ({ ...fresh, verified: true, identity }));
    return users.update(existing, (current) => {
      if (current.identity && !isOf(current, identity))
        throw new Conflict("this e-mail address belongs to another person's account");
      return { ...current, identity };
    });
  }
}

function isOf({ identity }: User, other: Identity): boolean {
  return identity !== undefined && identityValue(identity) === identityValue(other);
}
