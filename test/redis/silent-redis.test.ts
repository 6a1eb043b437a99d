import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { connectRedis } from '../../process/redis-connection.ts';
import { SOCKET_TIMEOUT_MS } from '../../process/redis-watch.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

let server: TestRedis;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await delay(10);
}

test('fails waiting requests when Redis is silent, and continues when it responds', async () => {
  const url = `redis://127.0.0.1:${server.port}`;
  const clients = [connectRedis({ url }, silentLogger), connectRedis({ url }, silentLogger)];
  const heard: string[] = [];
  try {
    await until(() => clients.every(({ isReady }) => isReady));
    for (const client of clients) await client.subscribe('news', (text) => heard.push(text));
    server.freeze();
    const asked = performance.now();
    const asking = new AbortController();
    const busy = (async () => {
      while (!asking.signal.aborted) {
        for (const client of clients) client.ping().catch(() => undefined);
        await delay(100);
      }
    })();
    for (const client of clients) await expect(client.ping()).rejects.toThrow();
    expect(performance.now() - asked).toBeLessThan(6000);
    asking.abort();
    await busy;
    server.thaw();
    const other = await server.connect();
    while (heard.length < clients.length) {
      heard.splice(0);
      await other.publish('news', 'again');
      await delay(100);
    }
    expect(heard).toEqual(['again', 'again']);
  } finally {
    server.thaw();
    for (const client of clients) client.destroy();
  }
});

test('connects to a Redis that was silent during the connection once it responds', async () => {
  server.freeze();
  const client = connectRedis({ url: `redis://127.0.0.1:${server.port}` }, silentLogger);
  try {
    // Longer than the timeout of a connection attempt.
    await delay(SOCKET_TIMEOUT_MS + 1000);
    expect(client.isReady).toBe(false);
    server.thaw();
    await until(() => client.isReady);
  } finally {
    server.thaw();
    client.destroy();
  }
});
