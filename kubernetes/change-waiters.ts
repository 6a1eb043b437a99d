import type { Clock } from './clock.ts';

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The awaited condition did not become true in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
}

/** Promises that wait for a condition on an object, by key. */
export class ChangeWaiters<T> {
  readonly #read: (key: string) => T | undefined;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(read: (key: string) => T | undefined, clock: Clock, name: string) {
    this.#read = read;
    this.#clock = clock;
    this.#name = name;
  }

  /** Waits until the condition holds. @param now whether the current state can already satisfy it */
  waitFor(
    key: string,
    predicate: (object: T | undefined) => boolean,
    { timeoutMs, signal }: WaitOptions,
    now: boolean,
  ): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(reasonOf(signal));
      const leave = () => {
        cancel();
        signal?.removeEventListener('abort', abort);
        const same = this.#waiters.get(key);
        same?.delete(waiter);
        if (same?.size === 0) this.#waiters.delete(key);
      };
      const fail = (error: Error) => {
        leave();
        reject(error);
      };
      const evaluate = () => {
        const object = this.#read(key);
        try {
          if (!predicate(object)) return;
        } catch (error) {
          return fail(error instanceof Error ? error : new Error(String(error)));
        }
        leave();
        resolve(object);
      };
      const abort = () => fail(reasonOf(signal));
      const waiter = { evaluate, fail };
      const cancel = this.#clock.setTimeout(() => {
        fail(new WaitTimeoutError(`${this.#name} ${key} did not reach the awaited state within ${timeoutMs} ms`));
      }, timeoutMs);
      signal?.addEventListener('abort', abort, { once: true });
      const same = this.#waiters.get(key);
      if (same) same.add(waiter);
      else this.#waiters.set(key, new Set([waiter]));
      if (now) evaluate();
    });
  }

  evaluate(key: string): void {
    for (const waiter of [...(this.#waiters.get(key) ?? [])]) waiter.evaluate();
  }

  evaluateAll(): void {
    for (const key of [...this.#waiters.keys()]) this.evaluate(key);
  }

  rejectAll(error: Error): void {
    for (const same of [...this.#waiters.values()]) for (const waiter of [...same]) waiter.fail(error);
  }
}

interface Waiter {
  evaluate: () => void;
  fail: (error: Error) => void;
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the wait was aborted');
}
