import { setTimeout as pause } from 'node:timers/promises';

interface Work {
  size: number;
  /** Carries out one step. Returns whether it was the last. */
  step: () => boolean;
}

/** How long works occupy the process before other work continues, in milliseconds. */
const atOnceMs = 5;
/** How much longer the pause after that is. */
const pauses = 3;

/**
 * Carries out works of many short steps, always the smallest one, with a pause after every few milliseconds that is
 * three times as long: whoever chooses large works delays neither smaller ones nor much of the other work of the
 * process.
 */
export class GradualWorks {
  readonly #maxSmall: number;
  readonly #waiting: Work[] = [];
  #isRunning = false;

  /** @param maxSmall size up to which works are carried out at once */
  constructor(maxSmall: number) {
    this.#maxSmall = maxSmall;
  }

  /** Carries out a work of that size; it yields after each step. */
  run<T>(size: number, steps: Generator<void, T>): Promise<T> {
    if (size <= this.#maxSmall) return Promise.resolve(completed(steps));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const step = () => {
      try {
        const { done, value } = steps.next();
        if (done) resolve(value);
        return done === true;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    this.#waiting.push({ size, step });
    if (!this.#isRunning) void this.#runAll();
    return promise;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const started = performance.now();
      while (this.#waiting.length > 0 && performance.now() - started < atOnceMs) this.#stepOfSmallest();
      await pause(pauses * (performance.now() - started));
    }
    this.#isRunning = false;
  }

  #stepOfSmallest(): void {
    const smallest = this.#waiting.reduce((one, other) => (other.size < one.size ? other : one));
    if (smallest.step()) this.#waiting.splice(this.#waiting.indexOf(smallest), 1);
  }
}

/** Carries out all steps at once. */
export function completed<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
