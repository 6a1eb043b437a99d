import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { objectKey, Secret } from '../../kubernetes/resource-type.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { Conflict } from '../http/errors.ts';
import { userName, userOf, userSecret, type User } from './user-record.ts';

/** Users are Secrets in a namespace of their own, so that whoever breaks into the API reads no other Secret there. */
export class UserStore {
  readonly #cluster: Pick<ClusterWriter, 'find' | 'create'>;
  readonly #cache: Caches['users'];
  readonly #namespace: string;

  constructor(cluster: Pick<ClusterWriter, 'find' | 'create'>, cache: Caches['users'], namespace: string) {
    this.#cluster = cluster;
    this.#cache = cache;
    this.#namespace = namespace;
  }

  /** By the record's name: from the cache, or, where another replica may just have made it, from the API server. */
  async find(name: string): Promise<User | undefined> {
    return userOf(this.#cache.get(objectKey(this.#namespace, name))) ?? (await this.#read(name));
  }

  /** Always from the API server, known or not, so that neither a stale password nor the time taken tells anything. */
  readByEmail(email: string): Promise<User | undefined> {
    return this.#read(userName(email));
  }

  /** @throws Conflict when the address has an account. */
  async create(user: Omit<User, 'name'>): Promise<User> {
    const secret = userSecret(user, this.#namespace);
    try {
      this.#cache.observe(await this.#cluster.create(Secret, secret));
    } catch (error) {
      if (isAlreadyExists(error)) throw new Conflict('this e-mail address has an account already', { cause: error });
      throw error;
    }
    return { ...user, name: secret.metadata.name };
  }

  async #read(name: string): Promise<User | undefined> {
    return userOf(await this.#cluster.find(Secret, { namespace: this.#namespace, name }));
  }
}
