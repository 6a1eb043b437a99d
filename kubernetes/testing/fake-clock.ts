import type { Clock } from '../clock.ts';

/** A clock that stands until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  /** By how much the clock was set without time having passed, as after a machine was asleep. */
  #setBy = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now + this.#setBy;
  }

  /** Sets the clock forward, or back: timers go on as they were. */
  set(ms: number): void {
    this.#setBy += ms;
  }

  setTimeout(callback: () => void, ms: number): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on, firing what falls due in order, and lets promises settle before and after each. */
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

/** Lets all promises that can settle do so. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
