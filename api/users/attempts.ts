import type { Options, Store } from 'express-rate-limit';
import { TooManyRequests } from '../http/errors.ts';
import { userName } from './user-record.ts';

const windowMs = 60 * 1000;
/** How many network addresses it takes to keep somebody's address from logging in: one alone is limited before. */
const networkAddresses = 10;

/** Tries of one password, from wherever they come: those who try from many places are limited too. */
export class Attempts {
  readonly #perMinute: number;
  readonly #store: Store;

  /** @param perMinute tries to log in from one network address */
  constructor(perMinute: number, store: Store) {
    this.#perMinute = perMinute;
    this.#store = store;
    // The stores read nothing else of the options.
    void store.init?.({ windowMs } as Options);
  }

  /** Counts a login of an e-mail address. @throws TooManyRequests, whether there is an account or not */
  count(email: string): Promise<void> {
    return this.#count(userName(email), this.#perMinute * networkAddresses, 'logins of one address');
  }

  /** Counts a try of who is logged in, apart from logins: those who are not must not use it up. @throws TooManyRequests */
  countOwn(accountId: string): Promise<void> {
    return this.#count(accountId, this.#perMinute, 'changes of one password');
  }

  async #count(key: string, max: number, what: string): Promise<void> {
    const { totalHits, resetTime } = await this.#store.increment(key);
    if (totalHits <= max) return;
    const seconds = resetTime ? Math.ceil((resetTime.getTime() - Date.now()) / 1000) : windowMs / 1000;
    throw new TooManyRequests(`at most ${max} ${what} are accepted per minute. Try again later`, {
      retryAfterSeconds: Math.max(1, seconds),
    });
  }
}
