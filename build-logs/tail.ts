import { setTimeout as sleep } from 'node:timers/promises';
import type { LogKeys } from './keys.ts';
import { LiveBuffer } from './live-buffer.ts';
import type { LogPage } from './page.ts';
import { type LogReaderRedis, readNewest, readPage } from './read-script.ts';
import { Signal } from './signal.ts';

/** Announces new messages. An announcement only wakes readers, so a lost one costs a second. */
export interface LogSubscriber {
  subscribe(channel: string, listener: () => void): Promise<unknown>;
  unsubscribe(channel: string, listener: () => void): Promise<unknown>;
}

export interface TailOptions {
  redis: LogReaderRedis;
  subscriber: LogSubscriber;
  keys: LogKeys;
  onRedisError: (error: unknown) => void;
}

/** Maximum delay of a message after a lost announcement, or while Redis is disconnected, in milliseconds. */
const pollMs = 1000;
const retryMs = 500;
/** Minimum time between two pages, in milliseconds, so that messages within it reach all readers together. */
const gatherMs = 10;

/** Follows one live log for all its readers in this process, so that each new message is read from Redis once. */
export class Tail {
  readonly #options: TailOptions;
  readonly #buffers = new Set<LiveBuffer>();
  readonly #announced = new Signal();
  readonly #stopping = new AbortController();
  #last = 0;
  #hasEnded = false;

  constructor(options: TailOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Seq of the newest known message; 0 for none. When it grows, the buffers' signal is raised. */
  get last(): number {
    return this.#last;
  }

  /** Whether the newest message is the end message. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  join(): LiveBuffer {
    const buffer = new LiveBuffer();
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Removes a reader. Returns true if it was the last one; the tail has then stopped. */
  leave(buffer: LiveBuffer): boolean {
    this.#buffers.delete(buffer);
    if (this.#buffers.size === 0) this.#stopping.abort();
    return this.#buffers.size === 0;
  }

  async #run(): Promise<void> {
    const { subscriber, keys, onRedisError } = this.#options;
    const wake = (): void => this.#announced.raise();
    // Not awaited, because it does not resolve while Redis is disconnected; polling continues meanwhile. Polls once
    // more after it.
    subscriber.subscribe(keys.stream, wake).then(wake, onRedisError);
    await this.#follow(this.#stopping.signal);
    subscriber.unsubscribe(keys.stream, wake).catch(onRedisError);
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    const { redis, keys, onRedisError } = this.#options;
    let knowsLast = false;
    while (!stopped.aborted && !this.#hasEnded) {
      let waitMs = pollMs;
      try {
        // Existing messages are not distributed: each reader reads them at its own pace.
        const newest = knowsLast ? undefined : await readNewest(redis, keys);
        if (newest) this.#push(newest);
        knowsLast = true;
        const page = await readPage(redis, keys, this.#last);
        if (page) {
          this.#push(page);
          await sleep(gatherMs);
          continue;
        }
      } catch (error) {
        onRedisError(error);
        waitMs = retryMs;
      }
      await this.#announced.wait(waitMs, stopped);
    }
  }

  #push(page: LogPage): void {
    this.#last = page.last;
    this.#hasEnded = page.isEnd;
    for (const buffer of this.#buffers) buffer.push(page);
  }
}
