/** Values that are read again after a time, such as what Redis or the API server knows. */
export class ShortCache<T> {
  readonly #keptMs: number;
  readonly #maxKept: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { at: number; value: Promise<T> }>();

  constructor(keptMs: number, maxKept: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#maxKept = maxKept;
    this.#now = now;
  }

  /** Returns the value of a key; concurrent callers share one read, and a failed one is not kept. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const at = this.#now();
    const kept = this.#kept.get(key);
    if (kept && at - kept.at < this.#keptMs) return kept.value;
    const value = read();
    const entry = { at, value };
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    value.catch(() => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#maxKept && oldest !== undefined) this.#kept.delete(oldest);
    return value;
  }
}
