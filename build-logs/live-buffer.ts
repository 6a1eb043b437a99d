import type { LogPage } from './page.ts';
import { Signal } from './signal.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * What has come for one reader and was not taken yet, up to a bound: past it everything is dropped, and the reader has
 * to read the log's pages from where it is. So a slow reader costs no memory and loses nothing.
 */
export class LiveBuffer {
  readonly arrived = new Signal();
  #pages: LogPage[] = [];
  #bytes = 0;
  #hasOverflowed = false;

  push(page: LogPage): void {
    this.arrived.raise();
    if (this.#hasOverflowed) return;
    this.#pages.push(page);
    this.#bytes += page.bytes.length;
    if (this.#bytes > MAX_BYTES) {
      this.#empty();
      this.#hasOverflowed = true;
    }
  }

  /**
   * The pages after `seq`, if they follow it without a gap; none when some were dropped or never came here, and the
   * log has to be read. What is pushed from now on is kept again.
   */
  take(seq: number): LogPage[] {
    const fresh = this.#pages.flatMap((page) => page.after(seq) ?? []);
    this.#empty();
    this.#hasOverflowed = false;
    return fresh[0]?.first === seq + 1 ? fresh : [];
  }

  #empty(): void {
    this.#pages = [];
    this.#bytes = 0;
  }
}
