import { LRUCache } from 'lru-cache';

const burst = 300;
const perSecond = 5;
/** The holder whose last request is oldest is forgotten first, and then has a full budget again. */
const maxHolders = 10_000;

/** Limits the tokens for one holder of credentials: 300 at once, then five per second. */
export class RequestBudget {
  readonly #left = new LRUCache<string, { tokens: number; at: number }>({ max: maxHolders });

  /** Takes one token; returns false if none is left. */
  take(holder: string, now: Date): boolean {
    const at = now.getTime();
    const known = this.#left.get(holder);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond) : burst;
    this.#left.set(holder, { tokens: tokens < 1 ? tokens : tokens - 1, at });
    return tokens >= 1;
  }
}
