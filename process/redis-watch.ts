import { setTimeout as delay } from 'node:timers/promises';

export interface WatchedRedis {
  readonly isReady: boolean;
  ping(): Promise<unknown>;
  /** Fails every command without a response. */
  destroy(): void;
  connect(): Promise<unknown>;
}

export interface RedisWatchOptions {
  pingMs?: number;
  /** Timeout of a response, in milliseconds. */
  timeoutMs?: number;
  /** Called when a connection is abandoned, and when none can be established. */
  onError: (error: unknown) => void;
}

const defaultPingMs = 1000;
const defaultTimeoutMs = 3000;
/** For the client's `socket` option: maximum silence of a connection before its first ping, in milliseconds. */
export const SOCKET_TIMEOUT_MS = 5000;

/**
 * Reconnects when Redis does not respond, because it hangs or its node was lost. The client itself waits as long as the
 * connection exists, and its socketTimeout restarts with every command sent, so it never fires on a busy connection.
 * The client renews its subscriptions. Does not keep the process running.
 */
export function watchRedis(redis: WatchedRedis, options: RedisWatchOptions): void {
  const { pingMs = defaultPingMs, timeoutMs = defaultTimeoutMs, onError } = options;
  const check = async (): Promise<void> => {
    if (redis.isReady && (await isSilent(redis, timeoutMs))) {
      onError(new Error(`Redis has not responded for ${timeoutMs} ms; reconnecting`));
      redis.destroy();
      // Retries until it is connected.
      redis.connect().catch(onError);
    }
    setTimeout(() => void check(), pingMs).unref();
  };
  setTimeout(() => void check(), pingMs).unref();
}

async function isSilent(redis: WatchedRedis, timeoutMs: number): Promise<boolean> {
  // An error is a response too, or the client has noticed the failure itself.
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
