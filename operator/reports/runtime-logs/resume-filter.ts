import type { SourcePosition } from '../../../build-logs/runtime-writer.ts';

/**
 * Skips lines that were already read when a log is read again from a time on. The kubelet stamps lines in nanoseconds,
 * in order and in one format, so timestamps can be compared as text.
 */
export class ResumeFilter {
  #time: string;
  #count: number;
  /** Number of lines with the last timestamp that may be repeated. */
  #again: number;

  constructor(position: SourcePosition | undefined) {
    this.#time = position?.time ?? '';
    this.#count = position?.count ?? 0;
    this.#again = this.#count;
  }

  /** Position of the source after the last new line. */
  get position(): SourcePosition | undefined {
    return this.#time === '' ? undefined : { time: this.#time, count: this.#count };
  }

  isNew(time: string): boolean {
    if (time < this.#time) return false;
    if (time > this.#time) {
      this.#time = time;
      this.#count = 1;
      this.#again = 0;
      return true;
    }
    if (this.#again > 0) {
      this.#again--;
      return false;
    }
    this.#count++;
    return true;
  }
}
