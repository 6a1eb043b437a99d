import { createHash } from 'node:crypto';

const minRetryMs = 10_000;
const maxRetryMs = 3600_000;

interface Entry {
  nextAt: number;
  /** That it was reckoned with. */
  intervalMs: number;
  /** One after another. */
  failures: number;
  /** The request that was tried last; a newer one need not wait for a retry's time. */
  tried: string | undefined;
  /** Until then the host wants no request. */
  busyUntil: number;
}

/** A Repository as far as its times depend on it. */
export interface Polled {
  uid: string;
  createdAt: Date;
  intervalMs: number;
}

/**
 * When which Repository's refs are looked at. Kept in memory alone: after a restart the first looks are spread over
 * the interval by the UIDs. A new Repository's is an interval after it appeared, for GitOps tools apply Environments
 * beside it. All times are Unix milliseconds.
 */
export class SyncSchedule {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long until the refs are to be looked at; 0: now. `request`: of a request that waits, its value. */
  waitMs(repository: Polled, request: string | undefined): number {
    const { tried, busyUntil, nextAt } = this.#entry(repository);
    const isAsked = request !== undefined && request !== tried;
    return Math.max(0, (isAsked ? busyUntil : nextAt) - this.#now());
  }

  /** `nextMs`: sooner than after an interval, for what is not done yet. */
  succeeded({ uid, intervalMs }: Polled, request: string | undefined, nextMs: number = intervalMs): void {
    this.#entries.set(uid, {
      nextAt: this.#now() + nextMs,
      intervalMs,
      failures: 0,
      tried: request,
      busyUntil: 0,
    });
  }

  /** The next try is after ever longer, or when the host said. */
  failed(repository: Polled, request: string | undefined, retryAfterMs: number | undefined): void {
    const { failures } = this.#entry(repository);
    const wait = Math.max(retryAfterMs ?? 0, Math.min(minRetryMs * 2 ** failures, maxRetryMs));
    this.#entries.set(repository.uid, {
      nextAt: this.#now() + wait,
      intervalMs: repository.intervalMs,
      failures: failures + 1,
      tried: request,
      busyUntil: this.#now() + (retryAfterMs ?? 0),
    });
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
    const entry = { failures: 0, tried: undefined, busyUntil: 0, ...known, nextAt, intervalMs };
    this.#entries.set(uid, entry);
    return entry;
  }
}

/** From 0 to below 1, the same for the same UID. */
function shareOf(uid: string): number {
  return createHash('sha256').update(uid).digest().readUInt32BE(0) / 2 ** 32;
}
