import type { LogKeys } from './keys.ts';
import type { LogPage } from './page.ts';
import { type LogReaderRedis, readNewest, readPage } from './read-script.ts';
import { type LogSubscriber, Tail } from './tail.ts';

export interface LogReaderOptions {
  redis: LogReaderRedis;
  /** Separate connection for subscriptions. */
  subscriber: LogSubscriber;
  /** Called with every failed call to Redis; the reader retries until its signal is aborted. */
  onRedisError: (error: unknown) => void;
}

export interface ReadOptions {
  /** Seq of the last message that the caller has; later ones are read. 0, the default, reads everything. */
  from?: number | undefined;
  /** Ends the reading without an error. */
  signal: AbortSignal;
  /** How long to wait for a missing log, in milliseconds; by default until the signal is aborted. */
  deadlineMs?: number;
}

/** No message of the log arrived in time: the log does not exist, or has expired. */
export class LogMissingError extends Error {
  override readonly name = 'LogMissingError';
}

/** Delay before a failed call to Redis is repeated, in milliseconds. */
const pollMs = 1000;

/** Reads logs for all readers in this process. */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #tails = new Map<string, Tail>();
  /** Reads in progress, which concurrent callers share. */
  readonly #reading = new Map<string, Promise<LogPage | undefined>>();

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /**
   * Yields the messages of a log after `from`, each once and in order: existing ones, then new ones, until the end
   * message, if this kind of log has one. They are grouped into pages and read at the caller's pace. Waits for Redis to
   * return if it is disconnected.
   */
  async *read(keys: LogKeys, options: ReadOptions): AsyncGenerator<LogPage, void, undefined> {
    const { signal, deadlineMs = Infinity } = options;
    const deadline = performance.now() + deadlineMs;
    const tail = this.#tail(keys);
    const buffer = tail.join();
    let last = options.from ?? 0;
    try {
      while (!signal.aborted) {
        let pages = buffer.take(last);
        if (pages.length === 0 && tail.last > last) pages = await this.#page(keys, last);
        for (const page of pages) {
          yield page;
          if (page.isEnd) return;
          last = page.last;
        }
        if (pages.length > 0) continue;
        if (tail.hasEnded && tail.last <= last) return;
        const waitMs = tail.last === 0 ? Math.min(pollMs, deadline - performance.now()) : pollMs;
        if (waitMs <= 0) throw new LogMissingError(`no message of ${keys.stream} within ${deadlineMs} ms`);
        await buffer.arrived.wait(waitMs, signal);
      }
    } finally {
      if (tail.leave(buffer)) this.#tails.delete(keys.stream);
    }
  }

  /**
   * Yields the existing messages of a log after `from`, in pages at the caller's pace, without those written meanwhile.
   * Throws if Redis does not respond.
   */
  async *readKept(keys: LogKeys, { from = 0, signal }: Omit<ReadOptions, 'deadlineMs'>): AsyncGenerator<LogPage> {
    const newest = (await readNewest(this.#options.redis, keys))?.last ?? 0;
    for (let last = from; last < newest && !signal.aborted;) {
      const page = await this.#share(keys, last);
      if (!page) return;
      yield page;
      last = page.last;
    }
  }

  #tail(keys: LogKeys): Tail {
    const existing = this.#tails.get(keys.stream);
    if (existing !== undefined) return existing;
    const tail = new Tail({ ...this.#options, keys });
    this.#tails.set(keys.stream, tail);
    return tail;
  }

  /** Returns no page while Redis does not respond; the caller tries again after a second. */
  async #page(keys: LogKeys, seq: number): Promise<LogPage[]> {
    try {
      const page = await this.#share(keys, seq);
      return page ? [page] : [];
    } catch (error) {
      this.#options.onRedisError(error);
      return [];
    }
  }

  /** Returns the page after `seq`; concurrent callers share one read. */
  async #share(keys: LogKeys, seq: number): Promise<LogPage | undefined> {
    const name = `${keys.stream}/${seq}`;
    const reading = this.#reading.get(name) ?? readPage(this.#options.redis, keys, seq);
    this.#reading.set(name, reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(name);
    }
  }
}
