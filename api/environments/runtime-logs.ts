import { setTimeout as delay } from 'node:timers/promises';
import { runtimeLogKeys } from '../../build-logs/keys.ts';
import type { LogPage } from '../../build-logs/page.ts';
import { type LogReaderRedis, readNewest } from '../../build-logs/read-script.ts';
import type { LogReader } from '../../build-logs/reader.ts';
import { type RuntimeWish, tellWish, WISH_RENEWAL_MS, type WishRedis } from '../../build-logs/runtime-wish.ts';
import { orUnavailable, Unavailable } from '../http/errors.ts';

export interface RuntimeLogsDependencies {
  redis: WishRedis & { exists(key: string): Promise<number> };
  /** Redis with bulk strings as Buffers. */
  pages: LogReaderRedis;
  reader: Pick<LogReader, 'read'>;
  onRedisError: (error: unknown) => void;
  /** How long the operator may take to begin. Default 10 s. */
  beginTimeoutMs?: number;
}

export interface RuntimeLogRange {
  /** So many of the last lines; `from` comes before it. */
  tail: number;
  /** The seq of the last message that the reader has. */
  from?: number | undefined;
}

const POLL_MS = 50;

/** Reads logs of running services: the operator follows them while a wish for it is kept up here. */
export class RuntimeLogs {
  readonly #dependencies: RuntimeLogsDependencies;

  constructor(dependencies: RuntimeLogsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The last lines, then what comes, until the signal. @throws Unavailable when no operator follows in time. */
  async *follow(wish: RuntimeWish, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    const release = await this.#wish(wish);
    try {
      const { from } = await this.#begin(wish, range, signal);
      yield* this.#dependencies.reader.read(runtimeLogKeys(wish.uid, wish.service), { from, signal });
    } finally {
      release();
    }
  }

  /** The last lines that there are now. @throws Unavailable when no operator follows in time. */
  async *read(wish: RuntimeWish, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    const release = await this.#wish(wish);
    try {
      const { from, last } = await this.#begin(wish, range, signal);
      if (from >= last) return;
      for await (const page of this.#dependencies.reader.read(runtimeLogKeys(wish.uid, wish.service), {
        from,
        signal,
      })) {
        yield page;
        if (page.last >= last) return;
      }
    } finally {
      release();
    }
  }

  /** Tells the wish, and again until released. */
  async #wish(wish: RuntimeWish): Promise<() => void> {
    const { redis, onRedisError } = this.#dependencies;
    await reach(tellWish(redis, wish));
    const timer = setInterval(() => void tellWish(redis, wish).catch(onRedisError), WISH_RENEWAL_MS);
    return () => clearInterval(timer);
  }

  /** Waits until the operator has brought what the pods wrote before; then says after which seq to read. */
  async #begin(
    wish: RuntimeWish,
    { tail, from }: RuntimeLogRange,
    signal: AbortSignal,
  ): Promise<{ from: number; last: number }> {
    const { redis, pages, beginTimeoutMs = 10_000 } = this.#dependencies;
    const keys = runtimeLogKeys(wish.uid, wish.service);
    const end = performance.now() + beginTimeoutMs;
    while ((await reach(redis.exists(keys.loaded))) === 0) {
      signal.throwIfAborted();
      if ((await reach(redis.exists(keys.refused))) > 0) {
        throw new Unavailable('so many logs of services are read now that no more can be; try again in some minutes');
      }
      if (performance.now() > end) throw new Unavailable('no operator follows the log now; try again');
      await delay(POLL_MS);
    }
    const last = (await reach(readNewest(pages, keys)))?.last ?? 0;
    return { from: from ?? Math.max(last - tail, 0), last };
  }
}

function reach<T>(answer: Promise<T>): Promise<T> {
  return orUnavailable(answer, 'the log cannot be read now; try again');
}
