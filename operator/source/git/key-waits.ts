export const MIN_KEY_WAIT_MS = 30_000;
const maxMs = 5 * 60_000;
/** Keys without attempts for this time are forgotten. */
const forgottenAfterMs = 3600_000;

/**
 * Determines how long to wait before a key that a Git host refuses is tried again: as long as it has been refused
 * already, from 30 s to 5 min. All users of the key wait together. Held in memory only; times are Unix milliseconds.
 */
export class KeyWaits {
  readonly #now: () => number;
  /** Keys in the order of their last attempt, oldest first. */
  readonly #refused = new Map<string, { since: number; triedAt: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records a refusal; returns the milliseconds to wait. `key` identifies the key and the origin. */
  refused(key: string): number {
    const now = this.#now();
    const since = this.#refused.get(key)?.since ?? now;
    for (const [other, { triedAt }] of this.#refused) {
      if (now - triedAt < forgottenAfterMs) break;
      this.#refused.delete(other);
    }
    this.#refused.delete(key);
    this.#refused.set(key, { since, triedAt: now });
    return Math.min(Math.max(now - since, MIN_KEY_WAIT_MS), maxMs);
  }

  accepted(key: string): void {
    this.#refused.delete(key);
  }
}
