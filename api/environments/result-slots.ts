import type { ServerResponse } from 'node:http';
import { Unavailable } from '../shared/errors.ts';

/**
 * Each response takes up to 32 MiB: the tester's response, its parsed form, and the API's response as text and as
 * bytes.
 */
const maxConcurrent = 2;
const deadlineMs = 30_000;

/** The account that requests results, and the response to it. */
export interface Taker {
  accountId: string;
  response: Pick<ServerResponse, 'once' | 'destroy' | 'closed'>;
}

/**
 * Limits how many large responses are in memory: one per account, so that no account takes all slots. A slot is held
 * until the response is read, or its connection is closed.
 */
export class ResultSlots {
  readonly #held = new Set<string>();
  readonly #deadlineMs: number;

  /** @param deadline maximum time for sending a response, in milliseconds */
  constructor(deadline = deadlineMs) {
    this.#deadlineMs = deadline;
  }

  /** Reads when a slot is free. @throws Unavailable if the account has one already, or all are taken. */
  async hold<T>({ accountId, response }: Taker, read: () => Promise<T>): Promise<T> {
    if (this.#held.has(accountId)) {
      throw new Unavailable('another response with test results is being sent to you. Try again when it is complete');
    }
    if (this.#held.size >= maxConcurrent)
      throw new Unavailable('test results are being sent to other callers. Try again in a few seconds');
    // Its close event, which releases the slot, has already been emitted.
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
