import type { Response } from 'express';
import { Counts } from '../../fair-queue/counts.ts';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';

/** Maximum number of seconds that a caller can wait. */
export const MAX_WAIT_SECONDS = 60;
/** Shorter than the timeout of most proxies, 60 s. */
const maxWaitMs = 55_000;

export interface LongPollLimits {
  perAccount: number;
  total: number;
}

export interface LongPoll {
  accountId: string;
  seconds: number;
  response: Pick<Response, 'once' | 'off' | 'closed'>;
}

/** How a request waits for an event: until a time, or until its connection or the server closes. */
export interface Wait {
  timeoutMs: number;
  signal: AbortSignal;
}

/** Limits how many requests wait in this process, per account and in total. */
export class LongPolls {
  readonly #limits: LongPollLimits;
  readonly #closing = new AbortController();
  readonly #waiting = new Counts();

  constructor(limits: LongPollLimits = { perAccount: 20, total: 1000 }) {
    this.#limits = limits;
  }

  /**
   * Runs a wait that ends on timeout, disconnect or shutdown.
   * @throws TooManyRequests if too many requests of the account wait, Unavailable if too many wait in total
   */
  async run<T>({ accountId, seconds, response }: LongPoll, wait: (how: Wait) => Promise<T>): Promise<T> {
    const there = this.#waiting.of(accountId);
    if (there >= this.#limits.perAccount) {
      const message = `${there} requests of your account are waiting already. Wait until one of them ends`;
      throw new TooManyRequests(message, { retryAfterSeconds: 5 });
    }
    if (this.#waiting.total >= this.#limits.total)
      throw new Unavailable('too many requests are waiting. Try again without waiting');
    const closed = new AbortController();
    const onClose = () => closed.abort();
    response.once('close', onClose);
    if (response.closed) onClose();
    this.#waiting.add(accountId);
    try {
      const signal = AbortSignal.any([closed.signal, this.#closing.signal]);
      return await wait({ timeoutMs: Math.min(seconds * 1000, maxWaitMs), signal });
    } finally {
      response.off('close', onClose);
      this.#waiting.add(accountId, -1);
    }
  }

  /** Ends all waits for a shutdown; each request is answered with the current state. */
  close(): void {
    this.#closing.abort();
  }
}
