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
  /** Interval of full lists, against missed events; by default never. */
  relistEveryMs?: number;
  /** A watch without an event or bookmark for so long is taken for dead and made anew. Default 90 s. */
  silenceMs?: number;
  /** The first wait after a failure, doubled by each further one up to 30 s, and jittered. Default 500 ms. */
  backoffMs?: number;
  clock?: Clock;
  random?: () => number;
}

/** What the reflector keeps up. A throw from take() means that the watch is not to be trusted any more. */
export interface ReflectorTarget<T> {
  replace(all: ObjectList<T>): void;
  take(event: WatchEvent<T>): void;
  /** From where to watch. */
  readonly resourceVersion: string | undefined;
}

const maxBackoffMs = 30_000;
/**
 * A watch that ended sooner, and reported nothing, counts as a failure: no storm of watches (client-go's same rule).
 */
const shortWatchMs = 1000;
/** client-go's bounds of a watch's length; each is drawn between them, so that not all end at once. */
const watchSeconds = { min: 300, max: 600 };

/** Lists once and watches from there, again and again whatever fails, as client-go's reflector. */
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

  /** Until the signal is aborted; never rejects. */
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

  /** One watch, to its end, to its death, or to the time of the next list. */
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

  /** The watch's events, until it is silent for too long or `ending` is aborted, even if it does not notice. */
  async *#untilSilent(ending: AbortController): AsyncGenerator<WatchEvent<T>> {
    const { source, silenceMs = 90_000, logger } = this.#options;
    const { min, max } = watchSeconds;
    const watch = source.watch({
      resourceVersion: this.#target.resourceVersion ?? '',
      timeoutSeconds: Math.round(min + this.#random() * (max - min)),
      signal: ending.signal,
    });
    const events = watch[Symbol.asyncIterator]();
    // A watch that we leave may fail as it ends, later than anybody waits for it.
    const ignore = (error: unknown) => logger.trace({ err: error }, 'a watch that was left failed');
    try {
      for (;;) {
        const cancel = this.#clock.setTimeout(() => {
          logger.debug({ silenceMs }, 'the watch is silent, opening a new one');
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
    // Resume where the watch broke when only the connection or the API server failed; in doubt, list.
    if (!isUnavailable(error) || isResourceVersionTooLarge(error)) this.#mustList = true;
    if (isGone(error)) logger.debug({ err: error }, 'the watch is too far behind, listing again');
    else logger.warn({ err: error, failures: this.#failures }, 'listing or watching failed, retrying');
  }

  #backoffMs(): number {
    const { backoffMs = 500 } = this.#options;
    return Math.min(backoffMs * 2 ** (this.#failures - 1), maxBackoffMs) * (1 + this.#random());
  }
}

/**
 * The promise's outcome, or undefined when the signal is aborted first. Not a Promise.race with one promise for the
 * signal: that would keep every outcome for as long as the signal lives.
 */
function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const aborted = () => resolve(undefined);
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
