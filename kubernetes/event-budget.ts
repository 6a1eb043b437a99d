import type { Clock } from './clock.ts';

/**
 * As client-go's EventSourceObjectSpamFilter (tools/record/events_cache.go): 25 Events at once, then one every five
 * minutes.
 */
const burst = 25;
const refillMs = 300_000;
const maxObjects = 4096;

/** Limits Events per object with a token bucket for each recent object. */
export class EventBudget {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a token of the object with this UID; returns whether one was left. */
  take(uid: string): boolean {
    const now = this.#clock.now();
    const held = this.#buckets.get(uid) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, held.tokens + (now - held.at) / refillMs);
    this.#buckets.delete(uid);
    this.#buckets.set(uid, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size > maxObjects) this.#buckets.delete(oldest);
    return tokens >= 1;
  }
}
