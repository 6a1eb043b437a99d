import { Gauge, type Registry } from 'prom-client';
import { Counts } from '../../fair-queue/counts.ts';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import type { LimitMetrics, LimitName } from './limit-metrics.ts';
import type { Release } from './memory-budget.ts';

/** Maximum numbers of open streams of one kind in one replica. */
export interface ViewerLimits {
  total: number;
  perAccount: number;
}

/** A kind of stream, in metrics and messages. */
interface StreamKind {
  limit: LimitName & ('viewers' | 'streams' | 'sessions');
  gauge: string;
  help: string;
  ofAccount: (perAccount: number) => string;
  ofAll: string;
}

/** Each log stream uses up to 256 KiB in the kernel. */
export const LOG_STREAMS: StreamKind & { limits: ViewerLimits } = {
  limits: { total: 256, perAccount: 32 },
  limit: 'viewers',
  gauge: 'coppice_api_log_viewers',
  help: 'Open log streams over WebSockets',
  ofAccount: (perAccount) => `you follow ${perAccount} logs, the limit of one account`,
  ofAll: 'too many logs are being followed',
};

/** What event streams use in the kernel is limited in total (events/event-streams.ts). */
export const EVENT_STREAMS: StreamKind & { limits: ViewerLimits } = {
  limits: { total: 2000, perAccount: 20 },
  limit: 'streams',
  gauge: 'coppice_api_event_streams',
  help: 'Open streams of server-sent events',
  ofAccount: (perAccount) => `you have ${perAccount} event streams open, the limit of one account`,
  ofAll: 'too many event streams are open',
};

/** Each shell session or forwarded connection holds at most a window of data in each direction. */
export const SHELL_SESSIONS: StreamKind & { limits: ViewerLimits } = {
  limits: { total: 128, perAccount: 24 },
  limit: 'sessions',
  gauge: 'coppice_api_shell_sessions',
  help: 'Open shell sessions and forwarded connections',
  ofAccount: (perAccount) => `you have ${perAccount} shells and forwarded connections open, the limit of one account`,
  ofAll: 'too many shells and forwarded connections are open',
};

/** The same sessions, counted by the group of their environment. */
export const SHELL_SESSIONS_OF_GROUP: typeof SHELL_SESSIONS = {
  ...SHELL_SESSIONS,
  limits: { total: Infinity, perAccount: 48 },
  ofAccount: (perGroup) => `the group has ${perGroup} shells and forwarded connections open, the limit of one group`,
};

const retryAfterSeconds = 10;

/** Limits the streams of one kind that are open in this replica. */
export class Viewers {
  readonly #limits: ViewerLimits;
  readonly #metrics: LimitMetrics;
  readonly #kind: StreamKind;
  readonly #ofAccount = new Counts();

  constructor(limits: ViewerLimits, metrics: LimitMetrics, kind: StreamKind = LOG_STREAMS) {
    this.#kind = kind;
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** Number of open streams. */
  get total(): number {
    return this.#ofAccount.total;
  }

  /**
   * Counts a stream.
   * @throws TooManyRequests at the account's limit; Unavailable at the limit of all accounts together
   */
  take(account: string): Release {
    const { total, perAccount } = this.#limits;
    if (this.#ofAccount.of(account) >= perAccount) {
      this.#metrics.refused(this.#kind.limit);
      const message = `${this.#kind.ofAccount(perAccount)}. Close one of the connections, then try again`;
      throw new TooManyRequests(message, { retryAfterSeconds });
    }
    if (this.total >= total) {
      this.#metrics.refused(this.#kind.limit);
      throw new Unavailable(`${this.#kind.ofAll}. Try again in a few seconds`, { retryAfterSeconds });
    }
    this.#ofAccount.add(account);
    let isHeld = true;
    return () => {
      if (isHeld) this.#ofAccount.add(account, -1);
      isHeld = false;
    };
  }
}

/** Creates the limit of one replica, and registers its gauge. */
export function viewers(
  kind: StreamKind & { limits: ViewerLimits },
  metrics: LimitMetrics,
  registry: Registry,
): Viewers {
  const counted = new Viewers(kind.limits, metrics, kind);
  new Gauge({
    name: kind.gauge,
    help: kind.help,
    registers: [registry],
    collect() {
      this.set(counted.total);
    },
  });
  return counted;
}
