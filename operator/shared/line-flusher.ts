const maxBuffered = 10_000;

/** Hands lines on in as large groups as come together while the group before is written. */
export class LineFlusher<Line> {
  readonly #write: (lines: Line[]) => Promise<void>;
  readonly #failed = new AbortController();
  #buffer: Line[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (lines: Line[]) => Promise<void>) {
    this.#write = write;
  }

  /** Aborted when a write has failed: nothing is taken any more. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** A promise to wait for when too much is unwritten, so that the reader is paced. Throws what an earlier write threw. */
  add(line: Line): Promise<void> | undefined {
    this.failed.throwIfAborted();
    this.#buffer.push(line);
    this.#writing ??= this.#drain();
    return this.#buffer.length >= maxBuffered ? this.#writing : undefined;
  }

  /** Throws what a write threw. */
  async finish(): Promise<void> {
    await this.#writing;
    this.failed.throwIfAborted();
  }

  async #drain(): Promise<void> {
    // What comes in the same turn goes together.
    await Promise.resolve();
    try {
      while (this.#buffer.length > 0) await this.#write(this.#buffer.splice(0));
    } catch (error) {
      // What follows must not be written: it would take the place of what was lost.
      this.#failed.abort(error);
    } finally {
      this.#writing = undefined;
    }
  }
}
