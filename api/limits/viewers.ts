import { Gauge, type Registry } from 'prom-client';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import type { LimitMetrics } from './limit-metrics.ts';
import type { Release } from './memory-budget.ts';

/** Maximum numbers of open log streams in one replica. */
export interface ViewerLimits {
  total: number;
  perAccount: number;
}

export const DEFAULT_VIEWER_LIMITS: ViewerLimits = { total: 256, perAccount: 32 };

const retryAfterSeconds = 10;

/** Limits the log streams that are open in this replica: each uses up to 256 KiB in the kernel. */
export class Viewers {
  readonly #limits: ViewerLimits;
  readonly #metrics: LimitMetrics;
  readonly #ofAccount = new Map<string, number>();
  #total = 0;

  constructor(limits: ViewerLimits, metrics: LimitMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** Number of open log streams. */
  get total(): number {
    return this.#total;
  }

  /**
   * Counts a log stream.
   * @throws TooManyRequests at the account's limit; Unavailable at the limit of all accounts together
   */
  take(account: string): Release {
    const { total, perAccount } = this.#limits;
    if ((this.#ofAccount.get(account) ?? 0) >= perAccount) {
      this.#metrics.refused('viewers');
      throw new TooManyRequests(
        `you follow ${perAccount} logs, the limit of one account. Close one of the connections, then try again`,
        { retryAfterSeconds },
      );
    }
    if (this.#total >= total) {
      this.#metrics.refused('viewers');
      throw new Unavailable('too many logs are being followed. Try again in a few seconds', { retryAfterSeconds });
    }
    this.#change(account, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#change(account, -1);
      isHeld = false;
    };
  }

  #change(account: string, by: 1 | -1): void {
    this.#total += by;
    const count = (this.#ofAccount.get(account) ?? 0) + by;
    if (count > 0) this.#ofAccount.set(account, count);
    else this.#ofAccount.delete(account);
  }
}

/** Creates the limit of one replica, and registers its gauge. */
export function viewers(limits: ViewerLimits, metrics: LimitMetrics, registry: Registry): Viewers {
  const counted = new Viewers(limits, metrics);
  new Gauge({
    name: 'coppice_api_log_viewers',
    help: 'Open log streams over WebSockets',
    registers: [registry],
    collect() {
      this.set(counted.total);
    },
  });
  return counted;
}
