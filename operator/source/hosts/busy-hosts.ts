import { HostBusyError } from '../errors.ts';

interface Busy {
  message: string;
  until: number;
  /** Over so long after that are they spread who wait for it. */
  spreadMs: number;
}

const minSpreadMs = 1000;
const maxSpreadMs = 60_000;

/**
 * What hosts said of when to come back, by whatever distinguishes two callers: whoever asks as one that was reported so
 * is reported the same here, and the host is left alone. Kept in memory alone, until the time is over.
 */
export class BusyHosts {
  readonly #entries = new Map<string, Busy>();
  readonly #now: () => Date;
  /** From 0 to below 1. */
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
   * Throws HostBusyError while the host wants to be left alone, in the words that it was reported in: conditions are
   * compared.
   */
  check(asker: string): void {
    const busy = this.#entries.get(asker);
    const leftMs = busy ? busy.until - this.#now().getTime() : 0;
    if (!busy || leftMs <= 0) return;
    // All that wait would come at once. Who was reported by the host itself comes first, and finds out for them.
    throw new HostBusyError(busy.message, Math.ceil(leftMs + this.#random() * busy.spreadMs));
  }
}
