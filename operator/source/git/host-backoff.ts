import { HostTimeoutError } from '../errors.ts';

const baseMs = 5000;
const maxMs = 60_000;
/** Longer than any attempt; no other attempt starts meanwhile. */
const attemptMs = 120_000;
/** Hosts without requests for this time are forgotten. */
const forgottenAfterMs = 600_000;
const maxHosts = 10_000;

interface TimedOutHost {
  failures: number;
  /** Unix milliseconds. */
  until: number;
  message: string;
}

/** An attempt to reach a host. Call answered() or timedOut() when it has ended. */
export interface HostAttempt {
  /** Throws HostTimeoutError if another attempt at the host has timed out since this one started. */
  check(): void;
  timedOut(error: HostTimeoutError): void;
  answered(): void;
}

/**
 * Backs off from hosts that time out: 5 s after the first timeout, doubled after each further one, up to 60 s. Then one
 * attempt is made. Any response of the host resets it. Held in memory only.
 */
export class HostBackoff {
  readonly #now: () => number;
  /** Hosts in the order of their last timeout, oldest first. */
  readonly #hosts = new Map<string, TimedOutHost>();

  /** Creates an empty record. @param now returns Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Starts an attempt.
   * @param key the host, its port, and the tenant: a host that times out for one tenant must stay available to others
   * @throws HostTimeoutError during the backoff, with the message of the last timeout, so that conditions do not change
   */
  start(key: string): HostAttempt {
    const now = this.#now();
    const host = this.#hosts.get(key);
    if (host && host.until > now) throw new HostTimeoutError(host.message);
    if (host) host.until = now + attemptMs;
    const failures = host?.failures ?? 0;
    const isFirst = () => (this.#hosts.get(key)?.failures ?? 0) <= failures;
    return {
      check: () => {
        const current = this.#hosts.get(key);
        if (current && !isFirst()) throw new HostTimeoutError(current.message);
      },
      timedOut: ({ message }) => {
        if (isFirst()) this.#add(key, failures + 1, message);
      },
      answered: () => void this.#hosts.delete(key),
    };
  }

  #add(key: string, failures: number, message: string): void {
    const now = this.#now();
    this.#hosts.delete(key);
    this.#hosts.set(key, { failures, until: now + Math.min(baseMs * 2 ** (failures - 1), maxMs), message });
    for (const [other, { until }] of this.#hosts) {
      if (this.#hosts.size <= maxHosts && now - until < forgottenAfterMs) break;
      this.#hosts.delete(other);
    }
  }
}

/** Makes an attempt and records its result. */
export async function attempting<T>(attempt: HostAttempt, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    attempt.answered();
    return result;
  } catch (error) {
    if (error instanceof HostTimeoutError) attempt.timedOut(error);
    else attempt.answered();
    throw error;
  }
}
