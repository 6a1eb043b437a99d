export const minKeyWaitMs = 30_000;
const maxMs = 5 * 60_000;
/** Nobody asks for this one any more. */
const forgottenAfterMs = 3600_000;

/**
 * How long to wait until a key is tried again that a Git host does not let in: as long as it has been so already, from
 * 30 s to 5 min. All that use the key wait together. In memory alone; times are Unix milliseconds.
 */
export class KeyWaits {
  readonly #now: () => number;
  /** The one that was tried longest ago first. */
  readonly #refused = new Map<string, { since: number; triedAt: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `key`: which key at which origin. */
  refused(key: string): number {
    const now = this.#now();
    const since = this.#refused.get(key)?.since ?? now;
    for (const [other, { triedAt }] of this.#refused) {
      if (now - triedAt < forgottenAfterMs) break;
      this.#refused.delete(other);
    }
    this.#refused.delete(key);
    this.#refused.set(key, { since, triedAt: now });
    return Math.min(Math.max(now - since, minKeyWaitMs), maxMs);
  }

  accepted(key: string): void {
    this.#refused.delete(key);
  }
}
