import type { LogKeys } from './keys.ts';
import type { LogPage } from './page.ts';
import { type LogReaderRedis, readNewest, readPage } from './read-script.ts';
import { type LogSubscriber, Tail } from './tail.ts';

export interface LogReaderOptions {
  redis: LogReaderRedis;
  /** A connection of its own, for subscriptions. */
  subscriber: LogSubscriber;
  /** Called with of every failed call to Redis; the reader itself tries again until its signal. */
  onRedisError: (error: unknown) => void;
}

export interface ReadOptions {
  /** The seq of the last message that the caller has: what comes after it is read. 0, the default, is everything. */
  from?: number | undefined;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
  /** How long to wait for a log that is not there, in milliseconds; without it as long as the signal allows. */
  deadlineMs?: number;
}

/** No message of the log came within the deadline: there is no such log, or it was deleted after its time. */
export class LogMissingError extends Error {
  override readonly name = 'LogMissingError';
}

/** How soon a call to Redis that failed is made again. */
const POLL_MS = 1000;

/** Reads logs for everybody in this process. */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #tails = new Map<string, Tail>();
  /** Readings that are under way: who asks for the same one meanwhile gets the same page. */
  readonly #reading = new Map<string, Promise<LogPage | undefined>>();

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /**
   * The messages of a log after `from`, every one once and in order: first what is there, then what comes, until the
   * end message, if the log is of a kind that has one. They come in pages of those that are ready together, read no
   * faster than the caller takes them. A Redis that goes away and comes back is waited for.
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
        const waitMs = tail.last === 0 ? Math.min(POLL_MS, deadline - performance.now()) : POLL_MS;
        if (waitMs <= 0) throw new LogMissingError(`no message of ${keys.stream} within ${deadlineMs} ms`);
        await buffer.arrived.wait(waitMs, signal);
      }
    } finally {
      if (tail.leave(buffer)) this.#tails.delete(keys.stream);
    }
  }

  /**
   * What there is of a log now after `from`, in pages read no faster than the caller takes them; what is written
   * meanwhile is left for the next reading. Throws when Redis does not answer.
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

  /** None while Redis does not answer: the caller requeues after a second. */
  async #page(keys: LogKeys, seq: number): Promise<LogPage[]> {
    try {
      const page = await this.#share(keys, seq);
      return page ? [page] : [];
    } catch (error) {
      this.#options.onRedisError(error);
      return [];
    }
  }

  /** The page after `seq`, asked for once for all who want it at the same time. */
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
