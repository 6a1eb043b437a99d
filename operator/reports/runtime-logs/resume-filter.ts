import type { SourcePosition } from '../../../build-logs/runtime-writer.ts';

/**
 * Reports new lines from those that were seen, when a log is read again from a time on: the kubelet stamps each line to
 * the nanosecond, and gives them in order, in one form, so that texts compare as times do.
 */
export class ResumeFilter {
  #time: string;
  #count: number;
  /** Lines of the last time that may come again. */
  #again: number;

  constructor(position: SourcePosition | undefined) {
    this.#time = position?.time ?? '';
    this.#count = position?.count ?? 0;
    this.#again = this.#count;
  }

  /** Where the source is after the lines that were new. */
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
