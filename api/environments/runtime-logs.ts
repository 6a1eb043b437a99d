import { setTimeout as delay } from 'node:timers/promises';
import { runtimeLogKeys } from '../../build-logs/keys.ts';
import type { LogPage } from '../../build-logs/page.ts';
import { type LogReaderRedis, readNewest } from '../../build-logs/read-script.ts';
import type { LogReader } from '../../build-logs/reader.ts';
import {
  type FollowRequest,
  sendFollowRequest,
  FOLLOW_RENEWAL_MS,
  type FollowRedis,
} from '../../build-logs/follow-request.ts';
import { orUnavailable, Unavailable } from '../shared/errors.ts';
import { LOG_UNREADABLE } from '../shared/messages.ts';

export interface RuntimeLogsOptions {
  redis: FollowRedis & { exists(key: string): Promise<number> };
  /** Redis with bulk strings as Buffers. */
  pages: LogReaderRedis;
  reader: Pick<LogReader, 'read'>;
  onRedisError: (error: unknown) => void;
  /** How long the operator can take to start. Default 10 s. */
  startTimeoutMs?: number;
}

export interface RuntimeLogRange {
  /** Number of last lines; `from` takes precedence. */
  tail: number;
  /** Sequence number of the last message that the reader has. */
  from?: number | undefined;
}

const pollMs = 50;

/** Reads logs of running services, which the operator follows while a follow request is renewed here. */
export class RuntimeLogs {
  readonly #options: RuntimeLogsOptions;

  constructor(options: RuntimeLogsOptions) {
    this.#options = options;
  }

  /** Yields the last lines and then new ones, until the signal. @throws Unavailable if no operator follows in time. */
  async *follow(followRequest: FollowRequest, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    const release = await this.#followRequest(followRequest);
    try {
      const { from } = await this.#start(followRequest, range, signal);
      yield* this.#options.reader.read(runtimeLogKeys(followRequest.uid, followRequest.service), { from, signal });
    } finally {
      release();
    }
  }

  /** Yields the last existing lines. @throws Unavailable if no operator follows in time. */
  async *read(followRequest: FollowRequest, range: RuntimeLogRange, signal: AbortSignal): AsyncGenerator<LogPage> {
    const release = await this.#followRequest(followRequest);
    try {
      const { from, last } = await this.#start(followRequest, range, signal);
      if (from >= last) return;
      for await (const page of this.#options.reader.read(runtimeLogKeys(followRequest.uid, followRequest.service), {
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

  /** Sends the follow request, and renews it until released. */
  async #followRequest(followRequest: FollowRequest): Promise<() => void> {
    const { redis, onRedisError } = this.#options;
    await reach(sendFollowRequest(redis, followRequest));
    const timer = setInterval(
      () => void sendFollowRequest(redis, followRequest).catch(onRedisError),
      FOLLOW_RENEWAL_MS,
    );
    return () => clearInterval(timer);
  }

  /** Waits until the operator has loaded earlier lines; returns the sequence number after which to read. */
  async #start(
    followRequest: FollowRequest,
    { tail, from }: RuntimeLogRange,
    signal: AbortSignal,
  ): Promise<{ from: number; last: number }> {
    const { redis, pages, startTimeoutMs = 10_000 } = this.#options;
    const keys = runtimeLogKeys(followRequest.uid, followRequest.service);
    const end = performance.now() + startTimeoutMs;
    while ((await reach(redis.exists(keys.loaded))) === 0) {
      signal.throwIfAborted();
      if ((await reach(redis.exists(keys.refused))) > 0) {
        throw new Unavailable('too many service logs are being followed. Try again in a few minutes');
      }
      if (performance.now() > end)
        throw new Unavailable(
          'no operator has started to follow the log. Try again in a minute, or ask an administrator to check the operator',
        );
      await delay(pollMs);
    }
    const last = (await reach(readNewest(pages, keys)))?.last ?? 0;
    return { from: from ?? Math.max(last - tail, 0), last };
  }
}

function reach<T>(answer: Promise<T>): Promise<T> {
  return orUnavailable(answer, LOG_UNREADABLE);
}
