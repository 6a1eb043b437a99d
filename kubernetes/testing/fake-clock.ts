import type { Clock } from '../clock.ts';

/** A clock that only the test advances. */
export class FakeClock implements Clock {
  #now: number;
  /** How far the wall clock was set without time having passed, as after the machine was suspended. */
  #setBy = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now + this.#setBy;
  }

  /** Sets the wall clock; timers are not affected. */
  set(ms: number): void {
    this.#setBy += ms;
  }

  setTimeout(callback: () => void, ms: number): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the clock, fires due timers in order, and lets promises settle before and after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
      await settle();
    }
    this.#now = end;
  }

  #next(end: number) {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets all promises settle that can. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
