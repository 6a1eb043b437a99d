/** Time as everything here reads it; passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after `ms`; the answer cancels it. */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** Node fires at once when asked for more than this (24.8 days). */
const maxTimeout = 2 ** 31 - 1;

/** Waits of more than 24.8 days end after that time: whoever waits requeues. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(callback, ms) {
    const timer = setTimeout(callback, Math.min(ms, maxTimeout));
    return () => clearTimeout(timer);
  },
};

/** As systemClock, but without a jump when somebody sets the machine's clock: for times that this process alone compares. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.timeOrigin + performance.now() };

/** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
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
