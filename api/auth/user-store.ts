import { isAlreadyExists, isNotFound } from '../../kubernetes/api-error.ts';
import { objectKey, Secret } from '../../kubernetes/resource-type.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict } from '../shared/errors.ts';
import { ADDRESS_TAKEN } from '../shared/messages.ts';
import { identityValue } from '../user-records/user-indexes.ts';
import { userData, userName, userOf, userSecret, type Identity, type User } from '../user-records/user-record.ts';

/**
 * Stores users as Secrets in a namespace of their own, so that an attacker in the API process can read no other
 * Secrets.
 */
export class UserStore {
  readonly #cluster: ClusterWriter;
  readonly #cache: Caches['users'];
  readonly #namespace: string;

  constructor(cluster: ClusterWriter, cache: Caches['users'], namespace: string) {
    this.#cluster = cluster;
    this.#cache = cache;
    this.#namespace = namespace;
  }

  /** Returns a user by the record's name, from this replica's cache. */
  cached(name: string): User | undefined {
    return userOf(this.#cache.get(objectKey(this.#namespace, name)));
  }

  /**
   * Reads a user by the record's name from the API server, for changes that must take effect on every replica
   * immediately.
   */
  async read(name: string): Promise<User | undefined> {
    return userOf(await this.#cluster.find(Secret, { namespace: this.#namespace, name }));
  }

  /** Reads from the API server in any case, so that a stale password is not accepted and timing reveals nothing. */
  readByEmail(email: string): Promise<User | undefined> {
    return this.read(userName(email));
  }

  /** Reads the account that an identity was linked to, from the API server. */
  async readByIdentity(identity: Identity): Promise<User | undefined> {
    for (const { metadata } of this.#cache.byIndex('identity', identityValue(identity))) {
      const user = await this.read(metadata.name);
      if (user?.identity && identityValue(user.identity) === identityValue(identity)) return user;
    }
    return undefined;
  }

  /** Lists all users, by address. */
  list(): User[] {
    const users = this.#cache.byIndex('all', '').flatMap((secret) => userOf(secret) ?? []);
    return users.sort((a, b) => (a.email < b.email ? -1 : 1));
  }

  /** Creates a user. @throws Conflict when the address has an account */
  async create(user: Omit<User, 'name'>): Promise<User> {
    const secret = userSecret(user, this.#namespace);
    try {
      this.#cache.observe(await this.#cluster.create(Secret, secret));
    } catch (error) {
      if (isAlreadyExists(error)) throw new Conflict(ADDRESS_TAKEN, { cause: error });
      throw error;
    }
    return { ...user, name: secret.metadata.name };
  }

  /**
   * Updates an account from its current state, without losing concurrent changes. An error of `change` ends the update.
   * @throws Conflict when the account was removed or replaced
   */
  async update({ name, accountId }: Pick<User, 'name' | 'accountId'>, change: (user: User) => User): Promise<User> {
    const at = { namespace: this.#namespace, name };
    const secret = await this.#cluster.find(Secret, at);
    const gone = () => new Conflict('the account was removed or replaced at the same time. Log in again');
    if (!secret) throw gone();
    const toData = (current: Secret) => {
      const user = userOf(current);
      if (user?.accountId !== accountId) throw gone();
      return { data: userData(change(user)) };
    };
    const { after } = await updateChecked(this.#cluster, this.#cache, Secret, secret, toData, gone);
    const changed = userOf(after);
    if (!changed) throw gone();
    return changed;
  }

  /** Removes an account; does nothing if it is already gone. */
  async remove({ name, accountId }: Pick<User, 'name' | 'accountId'>): Promise<void> {
    const at = { namespace: this.#namespace, name };
    const secret = await this.#cluster.find(Secret, at);
    if (!secret || userOf(secret)?.accountId !== accountId) return;
    try {
      await this.#cluster.delete(Secret, at, { uid: secret.metadata.uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
