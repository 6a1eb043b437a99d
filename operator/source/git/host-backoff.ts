import { HostTimeoutError } from '../errors.ts';

const baseMs = 5000;
const maxMs = 60_000;
/** Longer than an attempt takes: meanwhile no other one is made. */
const attemptMs = 120_000;
/** Nobody has asked for these since. */
const forgottenAfterMs = 600_000;
const maxHosts = 10_000;

interface TimedOutHost {
  failures: number;
  /** Unix milliseconds. */
  until: number;
  message: string;
}

/** One attempt at a host. Call answered() or timedOut() when it has ended. */
export interface HostAttempt {
  /** Throws HostTimeoutError where the host has timed out for another attempt since this one started. */
  check(): void;
  timedOut(error: HostTimeoutError): void;
  answered(): void;
}

/**
 * Backs off from hosts that time out: 5 s after the first time-out, twice as long after each further one, at most 60 s. Then
 * one attempt is made. A host that answers, however badly, starts anew. In memory alone.
 */
export class HostBackoff {
  readonly #now: () => number;
  /** The one that timed out longest ago first. */
  readonly #hosts = new Map<string, TimedOutHost>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Starts an attempt.
   * @param key the host and port, and who asks: one that times out for some must not be kept from others.
   * @throws HostTimeoutError while the host is backed off from, with the message of its last time-out: conditions are compared.
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

/** Makes an attempt and notes how it ended. */
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
