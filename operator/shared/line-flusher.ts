const maxBuffered = 10_000;

/** Writes lines in batches: lines that arrive during a write form the next batch. */
export class LineFlusher<Line> {
  readonly #write: (lines: Line[]) => Promise<void>;
  readonly #failed = new AbortController();
  #buffer: Line[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (lines: Line[]) => Promise<void>) {
    this.#write = write;
  }

  /** Aborted when a write has failed; no more lines are accepted. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /**
   * Adds a line. Returns a promise to wait for when too much is unwritten, which slows down the reader. Throws the
   * error of an earlier write.
   */
  add(line: Line): Promise<void> | undefined {
    this.failed.throwIfAborted();
    this.#buffer.push(line);
    this.#writing ??= this.#drain();
    return this.#buffer.length >= maxBuffered ? this.#writing : undefined;
  }

  /** Writes the remaining lines. Throws the error of a write. */
  async finish(): Promise<void> {
    await this.#writing;
    this.failed.throwIfAborted();
  }

  async #drain(): Promise<void> {
    // Lines added in the same tick are written together.
    await Promise.resolve();
    try {
      while (this.#buffer.length > 0) await this.#write(this.#buffer.splice(0));
    } catch (error) {
      // Later lines must not be written: they would take the position of the lost ones.
      this.#failed.abort(error);
    } finally {
      this.#writing = undefined;
    }
  }
}
