// Wires the API: what it reads and writes, and in which order it starts and stops.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { BuildLogReader } from '../build-logs/reader.ts';
import { ClusterClient } from '../kubernetes/client.ts';
import { HealthServer } from '../kubernetes/health-server.ts';
import { requireSynced } from '../kubernetes/require-synced.ts';
import { loadKubeConfig } from '../kubernetes/kube-config.ts';
import { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { stopOnSignal } from '../kubernetes/stop-on-signal.ts';
import { Passwords } from './auth/passwords.ts';
import { apiInformers } from './cluster/informers.ts';
import { parseConfig } from './config.ts';
import { createApp } from './http/app.ts';
import { redisStores } from './http/rate-limit.ts';
import { startServer, stopServer } from './http/server.ts';
import { WebSockets } from './http/web-sockets.ts';
import { connectRedis } from './redis.ts';

/** Until no proxy sends new requests here: the time in which an endpoint that is not ready is taken off. */
const drainMs = 3000;
/** How long requests may take to end; below the 30 s after which Kubernetes kills. */
const graceMs = 20_000;

const config = parseConfig(process.env);
const logger = pino({ level: config.logLevel });
const metrics = new RuntimeMetrics();
const client = new ClusterClient(loadKubeConfig(), { userAgent: 'coppice-api', observe: metrics.observeRequest });
const redis = connectRedis(config.redis, logger);
const subscriber = connectRedis(config.redis, logger);
const caches = apiInformers(client, config.usersNamespace, logger, metrics);
const informers = Object.values(caches);
const webSockets = new WebSockets();
let isStopping = false;

const app = createApp({
  config,
  cluster: client,
  caches,
  sessions: redis,
  limitStores: redisStores(redis),
  passwords: new Passwords(randomBytes),
  logReader: new BuildLogReader({
    redis,
    subscriber,
    onRedisError: (error) => logger.warn({ err: error }, 'a build log cannot be read from Redis, trying again'),
  }),
  webSockets,
  now: Date.now,
  randomBytes,
  registry: metrics.registry,
  logger,
});

const health = new HealthServer({
  port: config.healthPort,
  readyz: {
    informers: () => requireSynced(informers),
    redis: () => {
      if (!redis.isReady) throw new Error('not connected');
    },
    shutdown: () => {
      if (isStopping) throw new Error('stopping');
    },
  },
  registry: metrics.registry,
});

await health.start();
for (const informer of informers) informer.start();
await Promise.all(informers.map((informer) => informer.whenSynced()));
const { server, port } = await startServer(app, webSockets, config.port);
logger.info({ port, healthPort: config.healthPort }, 'listening');

async function stop(): Promise<void> {
  isStopping = true;
  await delay(drainMs);
  await stopServer(server, webSockets, graceMs);
  await Promise.all(informers.map((informer) => informer.stop()));
  redis.destroy();
  subscriber.destroy();
  await health.stop();
  client.close();
}

stopOnSignal(stop, logger);
