import { CONFIRM_AFTER, costOf, MAX_FRAME_BYTES, WINDOW } from './frames.ts';

/** What this side has sent and the other side has not confirmed. */
export class SendWindow {
  readonly #waiting = new Set<() => void>();
  #unconfirmed = 0;

  /** Whether another frame can be sent. */
  get isOpen(): boolean {
    return this.#unconfirmed < WINDOW;
  }

  sent(frame: { byteLength: number }): void {
    this.#unconfirmed += costOf(frame);
  }

  /** Returns whether the other side can confirm this: no more than was sent, and not in tiny steps. */
  confirmed(cost: number): boolean {
    // Also false for NaN.
    if (!(cost >= CONFIRM_AFTER && cost <= this.#unconfirmed)) return false;
    this.#unconfirmed -= cost;
    if (this.isOpen) for (const wake of this.#waiting) wake();
    return true;
  }

  /** Resolves when another frame can be sent, or the signal is aborted. */
  async whenOpen(signal: AbortSignal): Promise<void> {
    while (!this.isOpen && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const wake = () => resolve(undefined);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      await promise;
      this.#waiting.delete(wake);
      // A connection waits thousands of times: what stayed would take memory, and Node would warn the user.
      signal.removeEventListener('abort', wake);
    }
  }
}

/** What the other side has sent and this side has not confirmed. */
export class ReceiveWindow {
  readonly #confirm: (cost: number) => void;
  #unconfirmed = 0;
  #processed = 0;

  constructor(confirm: (cost: number) => void) {
    this.#confirm = confirm;
  }

  /** Counts a received frame; returns false if the other side has sent more than it may. */
  received(frame: { byteLength: number }): boolean {
    this.#unconfirmed += costOf(frame);
    return this.#unconfirmed < WINDOW + MAX_FRAME_BYTES;
  }

  /** Counts a frame that needs no memory any more, and confirms from time to time. */
  processed(frame: { byteLength: number }): void {
    this.#processed += costOf(frame);
    if (this.#processed < CONFIRM_AFTER) return;
    this.#unconfirmed -= this.#processed;
    this.#confirm(this.#processed);
    this.#processed = 0;
  }
}
