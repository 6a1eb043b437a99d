/** Texts that several users keep: equal ones are stored once. */
export class SharedTexts {
  readonly #texts = new Map<string, { text: string; users: number }>();

  get size(): number {
    return this.#texts.size;
  }

  /** Returns the stored text that equals this one, and counts a user. */
  take(text: string): string {
    const shared = this.#texts.get(text) ?? { text, users: 0 };
    this.#texts.set(shared.text, shared);
    shared.users += 1;
    return shared.text;
  }

  /** Ends one use of a text. */
  release(text: string): void {
    const shared = this.#texts.get(text);
    if (!shared) return;
    shared.users -= 1;
    if (shared.users === 0) this.#texts.delete(text);
  }
}
