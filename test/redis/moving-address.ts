import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { connectRedis, type Redis } from '../../process/redis-connection.ts';

/** One address of a replicated Redis, whose primary changes. */
export interface MovingAddress {
  /** Connects as Coppice's processes do. */
  connect: () => Promise<Redis>;
  /** Ends all connections. */
  close: () => void;
}

/**
 * Starts an address that leads each new connection to the primary of that moment. Connections stay with the server that
 * they were opened to, as with a DNS name that moves.
 */
export async function movingAddress(primary: () => Promise<number>): Promise<MovingAddress> {
  const clients: Redis[] = [];
  const lead = async (client: net.Socket) => {
    client.on('error', () => undefined);
    const server = net.connect(await primary(), '127.0.0.1');
    server.on('error', () => undefined);
    client.on('close', () => server.destroy()).pipe(server);
    server.on('close', () => client.destroy()).pipe(client);
  };
  const address = net.createServer((client) => void lead(client).catch(() => client.destroy()));
  await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve));
  const listening = address.address();
  if (listening === null || typeof listening === 'string') throw new Error('the address is not listening');
  const url = `redis://127.0.0.1:${listening.port}`;
  return {
    connect: async () => {
      const client = connectRedis({ url }, silentLogger);
      clients.push(client);
      while (!client.isReady) await delay(10);
      return client;
    },
    close: () => {
      for (const client of clients) client.destroy();
      address.close();
    },
  };
}

/** Repeats what is refused while Redis fails over, as callers of the API do after a 503. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(100);
    }
  }
}
