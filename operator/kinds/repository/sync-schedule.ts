import { createHash } from 'node:crypto';

const minRetryMs = 10_000;
const maxRetryMs = 3600_000;
/**
 * Requested syncs of one Repository run at most once a second, after a burst of three: each lists all refs by a Git
 * process. One push causes up to three deliveries, which do not wait.
 */
const requestGapMs = 1000;
const requestBurst = 3;

interface Entry {
  nextAt: number;
  /** The interval from which the times were calculated. */
  intervalMs: number;
  /** Number of consecutive failures. */
  failures: number;
  /** The last attempted request; a newer one does not wait for the retry. */
  tried: string | undefined;
  /** Until when the host limits requests, or another list would cost too much. */
  busyUntil: number;
  /** When all requested syncs so far would have run, had each waited for the one before. */
  requestedUntil: number;
}

/** The fields of a Repository that determine its schedule. */
export interface Polled {
  uid: string;
  createdAt: Date;
  intervalMs: number;
}

/**
 * Schedules when each Repository's refs are listed. Held in memory: after a restart, the UIDs spread the first listings
 * over the interval. A new Repository is listed an interval after it appeared, because GitOps tools apply its
 * Environments at the same time. All times are Unix milliseconds.
 */
export class SyncSchedule {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the milliseconds until the refs are due; 0 if they are due now. `request`: value of a pending request. */
  waitMs(repository: Polled, request: string | undefined): number {
    const { tried, busyUntil, requestedUntil, nextAt } = this.#entry(repository);
    const isAsked = request !== undefined && request !== tried;
    const askedAt = Math.min(nextAt, requestedUntil - (requestBurst - 1) * requestGapMs);
    return Math.max(0, (isAsked ? Math.max(busyUntil, askedAt) : nextAt) - this.#now());
  }

  /**
   * Records a success. `nextMs`: when to continue, if before the next interval. `gapMs`: minimum time to wait, also
   * for a request.
   */
  succeeded(repository: Polled, request: string | undefined, nextMs = repository.intervalMs, gapMs = 0): void {
    const { uid, intervalMs } = repository;
    this.#entries.set(uid, {
      nextAt: this.#now() + Math.max(nextMs, gapMs),
      intervalMs,
      failures: 0,
      tried: request,
      busyUntil: this.#now() + gapMs,
      requestedUntil: this.#requestedUntil(repository, request),
    });
  }

  /** Records a failure; the next attempt follows with backoff, or when the host permits it. */
  failed(repository: Polled, request: string | undefined, retryAfterMs: number | undefined): void {
    const { failures } = this.#entry(repository);
    const wait = Math.max(retryAfterMs ?? 0, Math.min(minRetryMs * 2 ** failures, maxRetryMs));
    this.#entries.set(repository.uid, {
      nextAt: this.#now() + wait,
      intervalMs: repository.intervalMs,
      failures: failures + 1,
      tried: request,
      busyUntil: this.#now() + (retryAfterMs ?? 0),
      requestedUntil: this.#requestedUntil(repository, request),
    });
  }

  /** Counts a sync as a requested one if its request is not the one that was attempted last. */
  #requestedUntil(repository: Polled, request: string | undefined): number {
    const { tried, requestedUntil } = this.#entry(repository);
    if (request === undefined || request === tried) return requestedUntil;
    // Requests that did not wait, such as those during a long sync, do not add up.
    const latest = this.#now() + requestBurst * requestGapMs;
    return Math.min(latest, Math.max(this.#now(), requestedUntil) + requestGapMs);
  }

  forget(uid: string): void {
    this.#entries.delete(uid);
  }

  #entry({ uid, createdAt, intervalMs }: Polled): Entry {
    const known = this.#entries.get(uid);
    if (known?.intervalMs === intervalMs) return known;
    const nextAt = known
      ? Math.min(known.nextAt, this.#now() + intervalMs)
      : Math.max(this.#now() + intervalMs * shareOf(uid), createdAt.getTime() + intervalMs);
    const entry = { failures: 0, tried: undefined, busyUntil: 0, requestedUntil: 0, ...known, nextAt, intervalMs };
    this.#entries.set(uid, entry);
    return entry;
  }
}

/** Returns a number from 0 to below 1 that is constant for a UID. */
function shareOf(uid: string): number {
  return createHash('sha256').update(uid).digest().readUInt32BE(0) / 2 ** 32;
}
