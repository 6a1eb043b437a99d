/** Counts by name, such as the slots that each account has. A name whose count is zero takes no memory. */
export class Counts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  /** The sum of all counts. */
  get total(): number {
    return this.#total;
  }

  /** The number of names whose count is not zero. */
  get size(): number {
    return this.#counts.size;
  }

  /** The names whose count is not zero. */
  get names(): string[] {
    return [...this.#counts.keys()];
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Adds to the count of a name; a negative `by` subtracts, at least to zero. */
  add(name: string, by = 1): void {
    const count = Math.max(this.of(name) + by, 0);
    this.#total += count - this.of(name);
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  clear(): void {
    this.#counts.clear();
    this.#total = 0;
  }
}
