import { LRUCache } from 'lru-cache';

const burst = 300;
const perSecond = 5;
/** Whoever has not asked for longest is forgotten first, and has a full budget again. */
const maxHolders = 10_000;

/** Bounds how many tokens one holder of credentials is given: 300 at once, then five a second. */
export class RequestBudget {
  readonly #left = new LRUCache<string, { tokens: number; at: number }>({ max: maxHolders });

  /** Takes one; false when none is left. */
  take(holder: string, now: Date): boolean {
    const at = now.getTime();
    const known = this.#left.get(holder);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond) : burst;
    this.#left.set(holder, { tokens: tokens < 1 ? tokens : tokens - 1, at });
    return tokens >= 1;
  }
}
