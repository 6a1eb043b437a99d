import type { Logger } from 'pino';
import { createClient, RESP_TYPES } from 'redis';
import { SOCKET_TIMEOUT_MS, watchRedis } from './redis-watch.ts';

export type Redis = ReturnType<typeof newClient>;

export interface RedisAddress {
  url: string;
  password?: string | undefined;
}

/** The client's own strategy ends for good after a socket timeout, which a Redis that is just starting can cause. */
function newClient(address: RedisAddress) {
  return createClient({
    ...withCredentials(address),
    disableOfflineQueue: true,
    socket: { socketTimeout: SOCKET_TIMEOUT_MS, reconnectStrategy: (retries) => Math.min(retries * 100, 2000) },
  });
}

/** The client takes a user in the URL for all there is, and sends no password that is given beside it. */
function withCredentials({ url, password }: RedisAddress) {
  if (password === undefined) return { url };
  const parsed = new URL(url);
  const username = decodeURIComponent(parsed.username);
  parsed.username = '';
  return { url: parsed.href, password, ...(username !== '' && { username }) };
}

/**
 * Connects, and connects again whenever the connection is lost; does not wait for it. A command fails at once while
 * Redis is away, and in some seconds when it falls silent: a request must not hang on it.
 */
export function connectRedis(address: RedisAddress, logger: Logger): Redis {
  const client = newClient(address);
  const onError = (error: unknown) => logger.warn({ err: error }, 'the connection to Redis failed');
  client.on('error', onError);
  watchRedis(client, { onError });
  // Called with already, as an event; what ends the attempt is the client's being destroyed.
  client.connect().catch((error: unknown) => logger.debug({ err: error }, 'not connected to Redis'));
  return client;
}

/** The same connection, with bulk strings as Buffers: logs pass through as they are. */
export function withBuffers(client: Redis) {
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
}
