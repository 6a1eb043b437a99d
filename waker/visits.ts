import { Counts } from '../fair-queue/counts.ts';
import type { WakerMessage } from '../waker-protocol/messages.ts';

export interface VisitsOptions {
  /** Sends to the operator. Returns whether one is connected. */
  send: (message: WakerMessage) => boolean;
  /** Minimum interval between two reports of one environment, in milliseconds. */
  intervalMs: number;
  now: () => number;
}

/** Reports to the operator which environments are visited: new requests, and connections that stay open. */
export class Visits {
  readonly #options: VisitsOptions;
  readonly #reportedAt = new Map<string, number>();
  readonly #open = new Counts();
  readonly #unsent = new Set<string>();

  constructor(options: VisitsOptions) {
    this.#options = options;
  }

  /** Reports a visit, unless one was reported just now. */
  report(key: string): void {
    const { send, intervalMs, now } = this.#options;
    const before = this.#reportedAt.get(key);
    if (before !== undefined && now() - before < intervalMs) return;
    if (!send({ type: 'visit', key })) {
      this.#unsent.add(key);
      return;
    }
    this.#unsent.delete(key);
    this.#reportedAt.set(key, now());
  }

  /** Counts a connection as a visit as long as it is open. Returns the function that ends it. */
  open(key: string): () => void {
    this.#open.add(key);
    this.report(key);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open.add(key, -1);
    };
  }

  /** Repeats reports of open connections, of these environments, and those that no operator has received. */
  repeat(waited: readonly string[]): void {
    const { intervalMs, now } = this.#options;
    for (const key of new Set([...this.#open.names, ...waited, ...this.#unsent])) this.report(key);
    for (const [key, at] of this.#reportedAt) if (now() - at >= intervalMs) this.#reportedAt.delete(key);
  }
}
