const maxLines = 10_000;
/** Many containers may write long lines at once while Redis does not respond. */
const maxCharacters = 4 * 1024 * 1024;

/** Writes lines in batches: lines that arrive during a write form the next batch. */
export class LineFlusher<Line> {
  readonly #write: (lines: Line[]) => Promise<void>;
  readonly #textOf: (line: Line) => string;
  readonly #failed = new AbortController();
  #buffer: Line[] = [];
  /** Characters of the buffered lines. */
  #characters = 0;
  #writing: Promise<void> | undefined;

  constructor(write: (lines: Line[]) => Promise<void>, textOf: (line: Line) => string) {
    this.#write = write;
    this.#textOf = textOf;
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
    this.#characters += this.#textOf(line).length;
    this.#writing ??= this.#drain();
    const isFull = this.#buffer.length >= maxLines || this.#characters >= maxCharacters;
    return isFull ? this.#writing : undefined;
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
      while (this.#buffer.length > 0) {
        this.#characters = 0;
        await this.#write(this.#buffer.splice(0));
      }
    } catch (error) {
      // Later lines must not be written: they would take the position of the lost ones.
      this.#failed.abort(error);
    } finally {
      this.#writing = undefined;
    }
  }
}
