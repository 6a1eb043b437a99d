import { setTimeout as delay } from 'node:timers/promises';

export interface WatchedRedis {
  readonly isReady: boolean;
  ping(): Promise<unknown>;
  /** Fails every command that waits for its answer. */
  destroy(): void;
  connect(): Promise<unknown>;
}

export interface RedisWatchOptions {
  pingMs?: number;
  /** An answer that takes longer does not come. */
  timeoutMs?: number;
  /** Called with of a connection that is given up, and of one that cannot be made. */
  onError: (error: unknown) => void;
}

const PING_MS = 1000;
const TIMEOUT_MS = 3000;
/** For the client's `socket` option: so long a connection that is being made, before its first ping, may say nothing. */
export const SOCKET_TIMEOUT_MS = 5000;

/**
 * Connects anew when Redis is silent: frozen, or on a node that was lost. The client itself waits for an answer as long
 * as the connection stands; its socketTimeout starts anew with whatever is sent, so a busy one never ends.
 * Subscriptions are made again by the client. Keeps no process alive.
 */
export function watchRedis(redis: WatchedRedis, options: RedisWatchOptions): void {
  const { pingMs = PING_MS, timeoutMs = TIMEOUT_MS, onError } = options;
  const check = async (): Promise<void> => {
    if (redis.isReady && (await isSilent(redis, timeoutMs))) {
      onError(new Error(`Redis has not answered for ${timeoutMs} ms: connecting anew`));
      redis.destroy();
      // It tries until it is connected.
      redis.connect().catch(onError);
    }
    setTimeout(() => void check(), pingMs).unref();
  };
  setTimeout(() => void check(), pingMs).unref();
}

async function isSilent(redis: WatchedRedis, timeoutMs: number): Promise<boolean> {
  // An error is an answer too, or the client has found out by itself.
  const answered = redis.ping().then(
    () => false,
    () => false,
  );
  const timeout = new AbortController();
  const waited = delay(timeoutMs, true, { ref: false, signal: timeout.signal }).catch(() => false);
  const silent = await Promise.race([answered, waited]);
  timeout.abort();
  return silent;
}
