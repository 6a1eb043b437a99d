/** The source of time, passed in so that tests can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after `ms`; returns a function that cancels it. */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** Node's timers fire immediately for longer times (24.8 days). */
const maxTimeout = 2 ** 31 - 1;

/** The system's clock. Timers of more than 24.8 days fire after that time, and their callers wait again. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(callback, ms) {
    const timer = setTimeout(callback, Math.min(ms, maxTimeout));
    return () => clearTimeout(timer);
  },
};

/** Like systemClock, but unaffected when the machine's clock is set: for times that only this process compares. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** Resolves after `ms`, or when the signal is aborted; never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
