import { setTimeout as pause } from 'node:timers/promises';

interface Work {
  size: number;
  run: () => Promise<void>;
}

/** How long a work occupies the process before other work continues, in milliseconds. */
const atOnceMs = 5;

/**
 * Carries out works of many short steps one after the other, the smallest that waits first, with a pause after every few
 * milliseconds that is as long: whoever chooses large works delays other work of the process by less than that, and
 * smaller works by one large one.
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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ size, run: () => gradually(steps).then(resolve, reject) });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      this.#waiting.sort((one, other) => one.size - other.size);
      await this.#waiting.shift()?.run();
    }
    this.#isRunning = false;
  }
}

/** Carries out all steps at once. */
export function completed<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function gradually<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const started = performance.now();
    while (performance.now() - started < atOnceMs) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    await pause(performance.now() - started);
  }
}
