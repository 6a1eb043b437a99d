import type { Options, Store } from 'express-rate-limit';
import { TooManyRequests } from '../shared/errors.ts';
import { userName } from '../user-records/user-record.ts';

const windowMs = 60 * 1000;
/**
 * Number of network addresses needed to reach the limit of an e-mail address: each network address has its own, lower
 * limit.
 */
const networkAddresses = 10;

/** Limits attempts to guess one password, from any number of network addresses. */
export class Attempts {
  readonly #perMinute: number;
  readonly #store: Store;

  /** Creates the limits. @param perMinute login attempts from one network address */
  constructor(perMinute: number, store: Store) {
    this.#perMinute = perMinute;
    this.#store = store;
    // The stores use no other option.
    void store.init?.({ windowMs } as Options);
  }

  /**
   * Counts a login attempt for an e-mail address.
   * @throws TooManyRequests, whether or not the address has an account
   */
  count(email: string): Promise<void> {
    return this.#count(userName(email), this.#perMinute * networkAddresses, 'logins of one address');
  }

  /**
   * Counts an attempt of a user who is logged in, separately from logins, so that strangers cannot exhaust it.
   * @throws TooManyRequests
   */
  countOwn(accountId: string): Promise<void> {
    return this.#count(accountId, this.#perMinute, 'changes of one password');
  }

  /** Counts codes of devices that a user types, so that codes cannot be guessed. @throws TooManyRequests */
  countCodes(accountId: string): Promise<void> {
    return this.#count(`code:${accountId}`, this.#perMinute, 'codes of one user');
  }

  /** Counts passwords of an environment that visitors enter, from any number of network addresses. @throws TooManyRequests */
  countAccess(environment: string): Promise<void> {
    const max = this.#perMinute * networkAddresses;
    return this.#count(`environment:${environment}`, max, 'passwords of one environment');
  }

  async #count(key: string, max: number, what: string): Promise<void> {
    const { totalHits, resetTime } = await this.#store.increment(key);
    if (totalHits <= max) return;
    const seconds = resetTime ? Math.ceil((resetTime.getTime() - Date.now()) / 1000) : windowMs / 1000;
    throw new TooManyRequests(`at most ${max} ${what} are accepted per minute. Try again in a minute`, {
      retryAfterSeconds: Math.max(1, seconds),
    });
  }
}
