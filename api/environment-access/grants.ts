import { hasEnded } from '../../crds/ended-links.ts';
import type { Grant } from '../../environment-access/tokens.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { UserStore } from '../auth/user-store.ts';
import { canSee } from '../auth/visibility.ts';
import { apiTokenId } from '../user-records/api-token.ts';
import type { User } from '../user-records/user-record.ts';
import type { AccessTarget } from './hosts.ts';
import type { AccessPasswords } from './passwords.ts';
import { ShortCache } from './short-cache.ts';

/** How long a login counts as valid without asking Redis again, in milliseconds. */
const keptMs = 15_000;
const maxKept = 10_000;

export interface GrantsOptions {
  users: Pick<UserStore, 'cached' | 'read'>;
  sessions: Pick<Sessions, 'isValid'>;
  passwords: Pick<AccessPasswords, 'stored'>;
  now: () => number;
}

/**
 * Decides whether what was granted still is: a signature alone would outlive a membership, a login or a password.
 */
export class Grants {
  readonly #options: GrantsOptions;
  readonly #logins: ShortCache<boolean>;

  constructor(options: GrantsOptions) {
    this.#options = options;
    this.#logins = new ShortCache(keptMs, maxKept, options.now);
  }

  async isValid(grant: Grant, target: AccessTarget): Promise<boolean> {
    switch (grant.kind) {
      case 'member':
        return (await this.#member(grant, target)) !== undefined && (await this.#isLoggedIn(grant.session));
      case 'link': {
        if (hasEnded(grant, target.environment.spec.endedLinks)) return false;
        const user = await this.#member(grant, target);
        return user !== undefined && hasApiToken(user, grant.apiToken, this.#options.now());
      }
      case 'password':
        return (await this.#options.passwords.stored(target))?.fingerprint === grant.secret;
      case 'test':
        return true;
    }
  }

  /** Another replica may have just created the account, which this one then reads. */
  async #member({ user: name, account }: { user: string; account: string }, { group }: AccessTarget) {
    const { users } = this.#options;
    const user = users.cached(name) ?? (await users.read(name));
    return user?.accountId === account && canSee(user, group) ? user : undefined;
  }

  #isLoggedIn(session: string): Promise<boolean> {
    return this.#logins.get(session, () => this.#options.sessions.isValid(session));
  }
}

/** A later token of the same name is another one. */
function hasApiToken({ apiTokens = [] }: User, id: string | undefined, now: number): boolean {
  if (id === undefined) return true;
  return apiTokens.some((token) => apiTokenId(token) === id && now < Date.parse(token.expiresOn));
}
