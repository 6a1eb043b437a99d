import type { ServerResponse } from 'node:http';
import { Unavailable } from '../http/errors.ts';

/** Each takes up to 32 MiB: the tester's answer, what is parsed of it, and our own as text and as bytes. */
const mostAtOnce = 2;
const deadlineMs = 30_000;

/** Who asks for results, and what they are answered by. */
export interface Taker {
  accountId: string;
  response: Pick<ServerResponse, 'once' | 'destroy' | 'closed'>;
}

/**
 * Bounds how many answers of many MiB are in memory: one for each account, so that nobody takes all places. A place is
 * held until the answer was taken, or its connection is gone.
 */
export class ResultPlaces {
  readonly #held = new Set<string>();
  readonly #deadlineMs: number;

  /** @param deadline in milliseconds: so long an answer may take on its way */
  constructor(deadline = deadlineMs) {
    this.#deadlineMs = deadline;
  }

  /** Reads once there is a place. @throws Unavailable while the account has one already, or all are taken. */
  async hold<T>({ accountId, response }: Taker, read: () => Promise<T>): Promise<T> {
    if (this.#held.has(accountId)) {
      throw new Unavailable('results of other tests are on their way to you; try again when they are there');
    }
    if (this.#held.size >= mostAtOnce)
      throw new Unavailable('results of tests are on their way to others; try again soon');
    // Its close, by which the place is given back, has been told of already.
    if (response.closed) throw new Unavailable('the connection is closed');
    this.#held.add(accountId);
    let timer: NodeJS.Timeout | undefined;
    response.once('close', () => {
      clearTimeout(timer);
      this.#held.delete(accountId);
    });
    try {
      return await read();
    } finally {
      if (this.#held.has(accountId)) timer = setTimeout(() => response.destroy(), this.#deadlineMs).unref();
    }
  }
}
