import type { Logger } from 'pino';
import { createClient, RESP_TYPES } from 'redis';
import { SOCKET_TIMEOUT_MS, watchRedis } from './redis-watch.ts';

export type Redis = ReturnType<typeof newClient>;

export interface RedisAddress {
  url: string;
  password?: string | undefined;
}

/** The client's own reconnect strategy gives up after a socket timeout, which a starting Redis can cause. */
function newClient(address: RedisAddress) {
  return createClient({
    ...withCredentials(address),
    disableOfflineQueue: true,
    socket: { socketTimeout: SOCKET_TIMEOUT_MS, reconnectStrategy: (retries) => Math.min(retries * 100, 2000) },
  });
}

/** The client ignores a separate password if the URL contains a user, so both are passed in one form. */
function withCredentials({ url, password }: RedisAddress) {
  if (password === undefined) return { url };
  const parsed = new URL(url);
  const username = decodeURIComponent(parsed.username);
  parsed.username = '';
  return { url: parsed.href, password, ...(username !== '' && { username }) };
}

/**
 * Connects without waiting, and reconnects whenever the connection is lost. Commands fail immediately while Redis is
 * disconnected, and after a few seconds when it does not respond, so that no request hangs.
 */
export function connectRedis(address: RedisAddress, logger: Logger): Redis {
  const client = newClient(address);
  const onError = (error: unknown) => logger.warn({ err: error }, 'the connection to Redis failed');
  client.on('error', onError);
  watchRedis(client, { onError });
  // An error event has reported this already; only destroying the client ends its attempts.
  client.connect().catch((error: unknown) => logger.debug({ err: error }, 'not connected to Redis'));
  return client;
}

/** Returns the same connection with bulk strings as Buffers, so that logs are passed on unchanged. */
export function withBuffers(client: Redis) {
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
}
