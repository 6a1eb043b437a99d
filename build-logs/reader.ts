import { buildLogKeys } from './keys.ts';
import type { BuildLogMessage } from './message.ts';
import { type BuildLogPagesRedis, isEnd, readPage } from './pages.ts';
import { type BuildLogSubscriber, Tail } from './tail.ts';

export interface BuildLogReaderOptions {
  redis: BuildLogPagesRedis;
  /** A connection of its own, for subscriptions. */
  subscriber: BuildLogSubscriber;
  /** Told of every failed call to Redis; the reader itself tries again until its signal. */
  onRedisError: (error: unknown) => void;
}

export interface ReadOptions {
  /** The seq of the last message that the caller has: what comes after it is read. 0, the default, is everything. */
  from?: number;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
  /** How long to wait for a log that is not there, in milliseconds; without it as long as the signal allows. */
  deadlineMs?: number;
}

/** No message of the log came within the deadline: there is no such log, or it was deleted after its time. */
export class BuildLogMissingError extends Error {
  override readonly name = 'BuildLogMissingError';
}

/** How soon a call to Redis that failed is made again. */
const POLL_MS = 1000;

/** Reads build logs for everybody in this process. */
export class BuildLogReader {
  readonly #options: BuildLogReaderOptions;
  readonly #tails = new Map<string, Tail>();

  constructor(options: BuildLogReaderOptions) {
    this.#options = options;
  }

  /** The messages of a log one by one: see readBatches. */
  async *read(logId: string, options: ReadOptions): AsyncGenerator<BuildLogMessage, void, undefined> {
    for await (const batch of this.readBatches(logId, options)) yield* batch;
  }

  /**
   * The messages of a log after `from`, every one once and in order: first what is there, then what comes, until the
   * end message. They come in batches of those that are ready together (never empty), read no faster than the caller
   * takes them. A Redis that goes away and comes back is waited for.
   */
  async *readBatches(logId: string, options: ReadOptions): AsyncGenerator<BuildLogMessage[], void, undefined> {
    const { signal, deadlineMs = Infinity } = options;
    const deadline = performance.now() + deadlineMs;
    const tail = this.#tail(logId);
    const buffer = tail.join();
    let last = options.from ?? 0;
    try {
      while (!signal.aborted) {
        let batch = buffer.take(last);
        if (batch.length === 0 && tail.last > last) batch = await this.#page(logId, last);
        const newest = batch.at(-1);
        if (newest !== undefined) {
          yield batch;
          if (isEnd(newest)) return;
          last = newest.seq;
          continue;
        }
        if (tail.hasEnded && tail.last <= last) return;
        const waitMs = tail.last === 0 ? Math.min(POLL_MS, deadline - performance.now()) : POLL_MS;
        if (waitMs <= 0) throw new BuildLogMissingError(`no message of the build log ${logId} within ${deadlineMs} ms`);
        await buffer.arrived.wait(waitMs, signal);
      }
    } finally {
      if (tail.leave(buffer)) this.#tails.delete(logId);
    }
  }

  #tail(logId: string): Tail {
    const existing = this.#tails.get(logId);
    if (existing !== undefined) return existing;
    const tail = new Tail({ ...this.#options, keys: buildLogKeys(logId) });
    this.#tails.set(logId, tail);
    return tail;
  }

  /** None while Redis does not answer: the caller looks again after a second. */
  async #page(logId: string, seq: number): Promise<BuildLogMessage[]> {
    try {
      return await readPage(this.#options.redis, buildLogKeys(logId), seq);
    } catch (error) {
      this.#options.onRedisError(error);
      return [];
    }
  }
}
