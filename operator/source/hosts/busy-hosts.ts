import { HostBusyError } from '../errors.ts';

interface Busy {
  message: string;
  until: number;
  /** Waiting callers resume at random times within this period after `until`. */
  spreadMs: number;
}

const minSpreadMs = 1000;
const maxSpreadMs = 60_000;

/**
 * Remembers until when hosts limit requests, for each caller that they distinguish: that caller gets the same error
 * without another request. Held in memory until the time has passed.
 */
export class BusyHosts {
  readonly #entries = new Map<string, Busy>();
  readonly #now: () => Date;
  /** Returns a number from 0 to below 1. */
  readonly #random: () => number;

  constructor(now: () => Date, random: () => number) {
    this.#now = now;
    this.#random = random;
  }

  add(asker: string, { message, retryAfterMs }: HostBusyError): void {
    const now = this.#now().getTime();
    for (const [other, { until }] of this.#entries) if (until <= now) this.#entries.delete(other);
    const until = Math.max(now + retryAfterMs, this.#entries.get(asker)?.until ?? 0);
    const spreadMs = Math.min(Math.max(retryAfterMs / 10, minSpreadMs), maxSpreadMs);
    this.#entries.set(asker, { message, until, spreadMs });
  }

  /**
   * Throws HostBusyError while the host limits requests, always with the same message, so that conditions do not
   * change.
   */
  check(asker: string): void {
    const busy = this.#entries.get(asker);
    const leftMs = busy ? busy.until - this.#now().getTime() : 0;
    if (!busy || leftMs <= 0) return;
    // Spread out, because all waiting callers would resume at once. The caller that the host itself refused resumes
    // first.
    throw new HostBusyError(busy.message, Math.ceil(leftMs + this.#random() * busy.spreadMs));
  }
}
