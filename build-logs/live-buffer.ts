import type { LogPage } from './page.ts';
import { Signal } from './signal.ts';

const maxBytes = 1024 * 1024;

/**
 * Buffers new pages for one reader up to a limit. Beyond it all are dropped, and the reader reads the log from its
 * position instead. A slow reader thus uses no memory and loses nothing.
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
    if (this.#bytes > maxBytes) {
      this.#empty();
      this.#hasOverflowed = true;
    }
  }

  /**
   * Returns the pages after `seq` if they follow it without a gap; none if some were dropped or never arrived, and the
   * log must be read. Buffers pages again from now on.
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
