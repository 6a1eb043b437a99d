import type { Response } from 'express';
import { TooManyRequests, Unavailable } from './errors.ts';

/** Seconds that a caller may ask to wait. */
export const MAX_WAIT_SECONDS = 60;
/** Before proxies give up, most of which wait for 60 s. */
const longestWaitMs = 55_000;

export interface LongPollLimits {
  perAccount: number;
  total: number;
}

export interface LongPoll {
  accountId: string;
  seconds: number;
  response: Pick<Response, 'once' | 'off' | 'closed'>;
}

/** How a request may wait for what a watch brings: for how long, and until its connection or the server closes. */
export interface Wait {
  timeoutMs: number;
  signal: AbortSignal;
}

/** Bounds how many requests wait at once in this process, for each account and together. */
export class LongPolls {
  readonly #limits: LongPollLimits;
  readonly #closing = new AbortController();
  readonly #waiting = new Map<string, number>();
  #total = 0;

  constructor(limits: LongPollLimits = { perAccount: 20, total: 1000 }) {
    this.#limits = limits;
  }

  /**
   * Runs a wait that ends when the time is over, the connection is closed, or the server stops.
   * @throws TooManyRequests while the account waits in too many requests, Unavailable while too many wait
   */
  async run<T>({ accountId, seconds, response }: LongPoll, wait: (how: Wait) => Promise<T>): Promise<T> {
    const there = this.#waiting.get(accountId) ?? 0;
    if (there >= this.#limits.perAccount) {
      const message = `${there} requests of your account wait already: let one of them end`;
      throw new TooManyRequests(message, { retryAfterSeconds: 5 });
    }
    if (this.#total >= this.#limits.total)
      throw new Unavailable('too many requests wait now; try again without waiting');
    const closed = new AbortController();
    const onClose = () => closed.abort();
    response.once('close', onClose);
    if (response.closed) onClose();
    this.#waiting.set(accountId, there + 1);
    this.#total += 1;
    try {
      const signal = AbortSignal.any([closed.signal, this.#closing.signal]);
      return await wait({ timeoutMs: Math.min(seconds * 1000, longestWaitMs), signal });
    } finally {
      response.off('close', onClose);
      this.#total -= 1;
      const left = (this.#waiting.get(accountId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(accountId);
      else this.#waiting.set(accountId, left);
    }
  }

  /** Ends all waits: the server stops, and each request is answered with what there is. */
  close(): void {
    this.#closing.abort();
  }
}
