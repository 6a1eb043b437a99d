import type { Logger } from 'pino';
import { createClient } from 'redis';
import type { Config } from './config.ts';

export type RedisClient = ReturnType<typeof newClient>;

/** Fails what is asked while the connection is down, at once: a request must not hang on it. */
function newClient({ url, password }: Config['redis']) {
  return createClient({ url, ...(password !== undefined && { password }), disableOfflineQueue: true });
}

/** Connects, and connects again whenever the connection is lost; does not wait for it. */
export function connectRedis(config: Config['redis'], logger: Logger): RedisClient {
  const client = newClient(config);
  client.on('error', (error: unknown) => logger.warn({ err: error }, 'the connection to Redis failed'));
  client.connect().catch((error: unknown) => logger.debug({ err: error }, 'not connected to Redis'));
  return client;
}
