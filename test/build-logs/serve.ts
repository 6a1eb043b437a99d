// The API's part of throughput.ts: build log streams without the preceding checks. Prints its port, and finally its
// resource usage.
import { createClient } from 'redis';
import { buildLogKeys } from '../../build-logs/keys.ts';
import { LogReader } from '../../build-logs/reader.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { serveLog } from '../../api/environments/log-socket.ts';
import { sendPages } from '../../api/environments/log-sending.ts';
import { startServer } from '../../api/http/server.ts';
import { WebSockets } from '../../api/http/web-sockets.ts';
import { watchMemory } from './peak-memory.ts';
import { withBuffers } from '../../process/redis-connection.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

process.once('disconnect', () => process.exit());
const redisPort = Number(process.argv[2]);
const connect = () => createClient({ socket: { host: '127.0.0.1', port: redisPort } }).connect();
const [redis, subscriber] = [await connect(), await connect()];
const reader = new LogReader({ redis: withBuffers(redis), subscriber, onRedisError: console.error });
const webSockets = new WebSockets();
const options = { canRead: () => Promise.resolve(true), keepaliveMs: 30_000, logger: silentLogger };

function app(request: IncomingMessage, response: ServerResponse): void {
  const accepted = webSockets.accept(request, response);
  void serveLog(accepted, options, async (signal) => {
    await sendPages(accepted.webSocket, reader.read(buildLogKeys('uid/1'), { signal }), { signal });
    accepted.webSocket.close(1000);
  });
}

const { port } = await startServer(app as unknown as Express, webSockets, 0);
const memory = watchMemory();
const cpu = process.cpuUsage();
const started = performance.now();
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu);
  const cpuShare = (user + system) / 1000 / (performance.now() - started);
  process.send?.({ ...memory(), cpuShare }, () => process.exit());
});
process.send?.(port);
