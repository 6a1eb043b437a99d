/** Maximum number of bytes per second of one service's log. */
export const MAX_BYTES_PER_SECOND = 1024 * 1024;
const lineOverhead = 100;
const windowMs = 1000;

/** Admits lines up to a number of bytes per second. */
export class LineQuota {
  readonly #now: () => number;
  #windowEnd = 0;
  #left = 0;

  /** Creates a quota; `now` returns milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns whether a line is admitted. Counts its length and an overhead for what is stored with it. */
  admits(length: number): boolean {
    const bytes = length + lineOverhead;
    const now = this.#now();
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + windowMs;
      this.#left = MAX_BYTES_PER_SECOND;
    }
    if (bytes > this.#left) {
      this.#left = 0;
      return false;
    }
    this.#left -= bytes;
    return true;
  }

  /** Milliseconds until lines are admitted again. */
  get waitMs(): number {
    return Math.max(this.#windowEnd - this.#now(), 0);
  }
}
