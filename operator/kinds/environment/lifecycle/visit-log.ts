/** The visits that the waker has reported and no status records yet, by key of the Environment. */
export class VisitLog {
  readonly #visits = new Map<string, Date>();

  note(key: string, at: Date): void {
    this.#visits.set(key, at);
  }

  /** Returns the last visit, and forgets it. */
  take(key: string): Date | undefined {
    const visit = this.#visits.get(key);
    this.#visits.delete(key);
    return visit;
  }
}
