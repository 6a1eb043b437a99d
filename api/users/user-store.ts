import { isAlreadyExists, isNotFound } from '../../kubernetes/api-error.ts';
import { objectKey, Secret } from '../../kubernetes/resource-type.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict } from '../http/errors.ts';
import { identityValue } from './user-indexes.ts';
import { userData, userName, userOf, userSecret, type Identity, type User } from './user-record.ts';

/** Users are Secrets in a namespace of their own, so that whoever breaks into the API reads no other Secret there. */
export class UserStore {
  readonly #cluster: ClusterWriter;
  readonly #cache: Caches['users'];
  readonly #namespace: string;

  constructor(cluster: ClusterWriter, cache: Caches['users'], namespace: string) {
    this.#cluster = cluster;
    this.#cache = cache;
    this.#namespace = namespace;
  }

  /** By the record's name, as this replica last heard of it. */
  cached(name: string): User | undefined {
    return userOf(this.#cache.get(objectKey(this.#namespace, name)));
  }

  /** By the record's name, as it is now: for what must count at once on every replica. */
  async read(name: string): Promise<User | undefined> {
    return userOf(await this.#cluster.find(Secret, { namespace: this.#namespace, name }));
  }

  /** Always from the API server, known or not, so that neither a stale password nor the time taken reveals anything. */
  readByEmail(email: string): Promise<User | undefined> {
    return this.read(userName(email));
  }

  /** The account that an identity was linked to; as it is now. */
  async readByIdentity(identity: Identity): Promise<User | undefined> {
    for (const { metadata } of this.#cache.byIndex('identity', identityValue(identity))) {
      const user = await this.read(metadata.name);
      if (user?.identity && identityValue(user.identity) === identityValue(identity)) return user;
    }
    return undefined;
  }

  /** All users, by address. */
  list(): User[] {
    const users = this.#cache.byIndex('all', '').flatMap((secret) => userOf(secret) ?? []);
    return users.sort((a, b) => (a.email < b.email ? -1 : 1));
  }

  /** @throws Conflict when the address has an account. */
  async create(user: Omit<User, 'name'>): Promise<User> {
    const secret = userSecret(user, this.#namespace);
    try {
      this.#cache.observe(await this.#cluster.create(Secret, secret));
    } catch (error) {
      if (isAlreadyExists(error)) throw new Conflict('this e-mail address already has an account', { cause: error });
      throw error;
    }
    return { ...user, name: secret.metadata.name };
  }

  /**
   * Changes an account from what it is now; of two changes at once none is lost. What `change` throws ends it.
   * @throws Conflict when the account is gone, also when there is another one of its address: it was there when asked.
   */
  async update({ name, accountId }: Pick<User, 'name' | 'accountId'>, change: (user: User) => User): Promise<User> {
    const at = { namespace: this.#namespace, name };
    const secret = await this.#cluster.find(Secret, at);
    const gone = () => new Conflict('the account was removed, or replaced, at the same time');
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

  /** Does nothing when the account is gone. */
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
