import { setTimeout as delay } from 'node:timers/promises';

export interface WatchedRedis {
  readonly isReady: boolean;
  /** A response also means that the connection works. */
  role(): Promise<{ role: string } | undefined>;
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
  /** Ends the watch; by default it lasts as long as the process. */
  signal?: AbortSignal;
}

const defaultPingMs = 1000;
const defaultTimeoutMs = 3000;
/** For the client's `socket` option: maximum silence of a connection before its first ping, in milliseconds. */
export const SOCKET_TIMEOUT_MS = 5000;

/**
 * Reconnects when Redis does not respond, because it hangs or its node was lost. The client itself waits as long as the
 * connection exists, and its socketTimeout restarts with every command sent, so it never fires on a busy connection.
 * Also reconnects when Redis has become a replica, which refuses every write: after a failover the address leads to the
 * new primary, while the connection to the old one may stay open. The client renews its subscriptions. Does not keep
 * the process running.
 */
export function watchRedis(redis: WatchedRedis, options: RedisWatchOptions): void {
  const { pingMs = defaultPingMs, timeoutMs = defaultTimeoutMs, onError, signal } = options;
  const check = async (): Promise<void> => {
    if (signal?.aborted) return;
    const failure = redis.isReady ? await failureOf(redis, timeoutMs) : undefined;
    if (signal?.aborted) return;
    if (failure !== undefined) {
      onError(new Error(`${failure}; reconnecting`));
      redis.destroy();
      // Retries until it is connected.
      redis.connect().catch(onError);
    }
    setTimeout(() => void check(), pingMs).unref();
  };
  setTimeout(() => void check(), pingMs).unref();
}

/** Returns why the connection is of no use, or undefined. */
async function failureOf(redis: WatchedRedis, timeoutMs: number): Promise<string | undefined> {
  const answered = redis.role().then(
    (answer) => (answer?.role === 'slave' ? 'Redis is a replica, which refuses writes' : undefined),
    // An error is a response too: the user may not be permitted to ask for the role, or the client has noticed the
    // failure itself.
    () => undefined,
  );
  const timeout = new AbortController();
  const silent = `Redis has not responded for ${timeoutMs} ms`;
  const waited = delay(timeoutMs, silent, { ref: false, signal: timeout.signal }).catch(() => undefined);
  const failure = await Promise.race([answered, waited]);
  timeout.abort();
  return failure;
}
