/** Numbers by name, such as the slots that each account has. A name whose number is zero takes no memory. */
export class Counts {
  readonly #numbers = new Map<string, number>();
  #total = 0;

  /** The sum of all numbers. */
  get total(): number {
    return this.#total;
  }

  /** How many names have a number above zero. */
  get size(): number {
    return this.#numbers.size;
  }

  /** The names that have a number above zero, in the order in which they got it. */
  get names(): string[] {
    return [...this.#numbers.keys()];
  }

  of(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  /** Adds to the number of a name; a negative `by` takes away, down to zero. */
  add(name: string, by = 1): void {
    const number = Math.max(this.of(name) + by, 0);
    this.#total += number - this.of(name);
    if (number > 0) this.#numbers.set(name, number);
    else this.#numbers.delete(name);
  }

  clear(): void {
    this.#numbers.clear();
    this.#total = 0;
  }
}
