import type { Logger } from 'pino';
import { createClient } from 'redis';

/**
 * A connection that comes back by itself. A command fails at once while Redis is away: build logs wait for it, and
 * nothing else of the operator does.
 */
export function connectRedis(url: string, password: string | undefined, logger: Logger) {
  const client = createClient({
    url,
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: { reconnectStrategy: (retries) => Math.min(retries * 100, 2000) },
  });
  client.on('error', (error: unknown) => logger.warn({ err: error }, 'Redis is away'));
  client.connect().catch((error: unknown) => logger.error({ err: error }, 'Redis cannot be connected to'));
  return client;
}
export type Redis = ReturnType<typeof connectRedis>;
