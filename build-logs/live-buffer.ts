import type { BuildLogMessage } from './message.ts';
import { Signal } from './signal.ts';

const MAX_MESSAGES = 5000;
const MAX_CHARACTERS = 1024 * 1024;

/**
 * What has come for one reader and was not taken yet, up to a bound: past it everything is dropped, and the reader has
 * to read the log's pages from where it is. So a slow reader costs no memory and loses nothing.
 */
export class LiveBuffer {
  readonly arrived = new Signal();
  #batches: (readonly BuildLogMessage[])[] = [];
  #messages = 0;
  #characters = 0;
  #hasOverflowed = false;

  push(batch: readonly BuildLogMessage[]): void {
    this.arrived.raise();
    if (this.#hasOverflowed) return;
    this.#batches.push(batch);
    this.#messages += batch.length;
    for (const message of batch) this.#characters += 'line' in message ? message.line.length : 0;
    if (this.#messages > MAX_MESSAGES || this.#characters > MAX_CHARACTERS) {
      this.#empty();
      this.#hasOverflowed = true;
    }
  }

  /**
   * The messages after `seq`, if they follow it without a gap; none when some were dropped or never came here, and the
   * pages have to be read. What is pushed from now on is kept again.
   */
  take(seq: number): BuildLogMessage[] {
    const fresh = this.#batches.flat().filter((message) => message.seq > seq);
    this.#empty();
    this.#hasOverflowed = false;
    return fresh[0]?.seq === seq + 1 ? fresh : [];
  }

  #empty(): void {
    this.#batches = [];
    this.#messages = 0;
    this.#characters = 0;
  }
}
