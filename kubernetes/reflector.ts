import type { Logger } from 'pino';
import { isGone, isResourceVersionTooLarge, isUnavailable } from './api-error.ts';
import type { ObjectList, WatchEvent } from './client-options.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { listAll, type ListWatch } from './list-watch.ts';

export interface ReflectorMetrics {
  listed(): void;
  watched(): void;
  failed(): void;
}

export interface ReflectorOptions<T> {
  source: ListWatch<T>;
  logger: Logger;
  metrics?: ReflectorMetrics | undefined;
  /** Interval of full lists, as protection against missed events; by default never. */
  relistEveryMs?: number;
  /** A watch without an event or bookmark for this time is reopened. Default 90 s. */
  silenceMs?: number;
  /** Delay after the first failure; doubled after each further one up to 30 s, with jitter. Default 500 ms. */
  backoffMs?: number;
  clock?: Clock;
  random?: () => number;
}

/** Receives the objects. If take() throws, the watch is no longer trusted. */
export interface ReflectorTarget<T> {
  replace(all: ObjectList<T>): void;
  take(event: WatchEvent<T>): void;
  /** The resource version to watch from. */
  readonly resourceVersion: string | undefined;
}

const maxBackoffMs = 30_000;
/**
 * A shorter watch without events counts as a failure, so that watches are not reopened in a tight loop (as in
 * client-go).
 */
const shortWatchMs = 1000;
/** client-go's range of a watch's duration, from which each is chosen randomly so that not all end at once. */
const watchSeconds = { min: 300, max: 600 };

/** Lists once, then watches from there, and recovers from all failures, like client-go's reflector. */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #target: ReflectorTarget<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  #mustList = true;
  #listedAt = 0;
  #failures = 0;

  constructor(options: ReflectorOptions<T>, target: ReflectorTarget<T>) {
    this.#options = options;
    this.#target = target;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  /** Runs until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = () => signal.aborted;
    while (!stopped()) {
      try {
        if (this.#mustList) await this.#list(signal);
        if (!stopped()) await this.#watch(signal);
      } catch (error) {
        if (!stopped()) this.#failed(error);
      }
      if (this.#failures > 0) await sleep(this.#clock, this.#backoffMs(), signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#options.metrics?.listed();
    const all = await listAll(this.#options.source, signal);
    if (signal.aborted) return;
    this.#target.replace(all);
    this.#mustList = false;
    this.#listedAt = this.#clock.now();
  }

  /** Runs one watch until it ends, fails, or a list is due. */
  async #watch(stopping: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    stopping.addEventListener('abort', end, { once: true });
    const cancelRelist = this.#relistTimer(end);
    const started = this.#clock.now();
    let events = 0;
    this.#options.metrics?.watched();
    try {
      for await (const event of this.#untilSilent(ending)) {
        this.#target.take(event);
        events++;
        this.#failures = 0;
      }
    } finally {
      cancelRelist?.();
      stopping.removeEventListener('abort', end);
      end();
    }
    const short = events === 0 && this.#clock.now() - started < shortWatchMs;
    this.#failures = short && !stopping.aborted && !this.#mustList ? this.#failures + 1 : 0;
  }

  #relistTimer(end: () => void): (() => void) | undefined {
    const { relistEveryMs } = this.#options;
    if (relistEveryMs === undefined) return undefined;
    const relist = () => {
      this.#mustList = true;
      end();
    };
    return this.#clock.setTimeout(relist, Math.max(this.#listedAt + relistEveryMs - this.#clock.now(), 0));
  }

  /**
   * Yields the watch's events until it is silent for too long or `ending` is aborted, even if the connection does not
   * notice.
   */
  async *#untilSilent(ending: AbortController): AsyncGenerator<WatchEvent<T>> {
    const { source, silenceMs = 90_000, logger } = this.#options;
    const { min, max } = watchSeconds;
    const watch = source.watch({
      resourceVersion: this.#target.resourceVersion ?? '',
      timeoutSeconds: Math.round(min + this.#random() * (max - min)),
      signal: ending.signal,
    });
    const events = watch[Symbol.asyncIterator]();
    // An abandoned watch may fail later, when nothing awaits it.
    const ignore = (error: unknown) => logger.trace({ err: error }, 'an abandoned watch failed');
    try {
      for (;;) {
        const cancel = this.#clock.setTimeout(() => {
          logger.debug({ silenceMs }, 'the watch is silent; opening a new one');
          ending.abort();
        }, silenceMs);
        const next = events.next();
        next.catch(ignore);
        const result = await beforeAbort(next, ending.signal).finally(cancel);
        if (ending.signal.aborted || !result || result.done) return;
        yield result.value;
      }
    } finally {
      ending.abort();
      events.return?.(undefined).catch(ignore);
    }
  }

  #failed(error: unknown): void {
    const { logger, metrics } = this.#options;
    this.#failures++;
    metrics?.failed();
    // Resumes where the watch ended if only the connection or the API server failed; lists again in all other cases.
    if (!isUnavailable(error) || isResourceVersionTooLarge(error)) this.#mustList = true;
    if (isGone(error)) logger.debug({ err: error }, 'the watch is too far behind; listing again');
    else logger.warn({ err: error, failures: this.#failures }, 'listing or watching failed; retrying');
  }

  #backoffMs(): number {
    const { backoffMs = 500 } = this.#options;
    return Math.min(backoffMs * 2 ** (this.#failures - 1), maxBackoffMs) * (1 + this.#random());
  }
}

/**
 * Resolves with the promise's result, or undefined when the signal is aborted first. Does not use Promise.race with a
 * shared promise, which would retain every result for the signal's lifetime.
 */
function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const aborted = () => resolve(undefined);
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
