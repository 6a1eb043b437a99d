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
  patienceMs?: number;
  /** Told of a connection that is given up, and of one that cannot be made. */
  onError: (error: unknown) => void;
}

const PING_MS = 1000;
const PATIENCE_MS = 3000;
/** For the client's `socket` option: so long a connection that is being made, before its first ping, may say nothing. */
export const SOCKET_TIMEOUT_MS = 5000;

/**
 * Connects anew when Redis is silent: frozen, or on a node that was lost. The client itself waits for an answer as
 * long as the connection stands; its socketTimeout begins anew with whatever is sent, so a busy one never ends.
 * Subscriptions are made again by the client. Keeps no process alive.
 */
export function watchRedis(redis: WatchedRedis, options: RedisWatchOptions): void {
  const { pingMs = PING_MS, patienceMs = PATIENCE_MS, onError } = options;
  const look = async (): Promise<void> => {
    if (redis.isReady && (await isSilent(redis, patienceMs))) {
      onError(new Error(`Redis has not answered for ${patienceMs} ms: connecting anew`));
      redis.destroy();
      // It tries until it is connected.
      redis.connect().catch(onError);
    }
    setTimeout(() => void look(), pingMs).unref();
  };
  setTimeout(() => void look(), pingMs).unref();
}

async function isSilent(redis: WatchedRedis, patienceMs: number): Promise<boolean> {
  // An error is an answer too, or the client has found out by itself.
  const answered = redis.ping().then(
    () => false,
    () => false,
  );
  const patience = new AbortController();
  const waited = delay(patienceMs, true, { ref: false, signal: patience.signal }).catch(() => false);
  const silent = await Promise.race([answered, waited]);
  patience.abort();
  return silent;
}
