// Wires the API's components, and starts and stops them in order.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LogReader } from '../build-logs/reader.ts';
import { ClusterClient } from '../kubernetes/client.ts';
import { PodStreams } from '../kubernetes/pod-streams.ts';
import { requireSynced } from '../kubernetes/require-synced.ts';
import { connectCluster } from '../kubernetes/cluster-connection.ts';
import { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { connectRedis, withBuffers } from '../process/redis-connection.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { redisMetrics } from '../process/redis-metrics.ts';
import { HealthServer } from '../process/health-server.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { testerClient } from '../tester-client/client.ts';
import { readAccessKeys } from '../environment-access/keys.ts';
import { SecretFolder } from '../process/secret-folder.ts';
import { Directory } from './auth/visibility.ts';
import { Passwords } from './auth/passwords.ts';
import { apiInformers, freshCaches } from './cluster/informers.ts';
import { orderedWriter } from './cluster/ordered-writer.ts';
import { parseConfig } from './config.ts';
import { RuntimeLogs } from './environments/runtime-logs.ts';
import { Memberships } from './groups/memberships.ts';
import { redisStores } from './limits/rate-limit.ts';
import { startServer, stopServer } from './http/server.ts';
import { WebSockets } from './http/web-sockets.ts';
import { readCommandLine } from './command-line/router.ts';
import { readPanelFiles } from './panel/panel-files.ts';
import { ensureAdministrator } from './users/first-administrator.ts';
import { UserStore } from './auth/user-store.ts';

/** Time in which proxies learn that this endpoint is not ready, and stop sending requests. */
const drainMs = 3000;
/** Maximum time for requests to end; shorter than the 30 s after which Kubernetes kills the container. */
const graceMs = 20_000;

const config = parseConfig(process.env);
const logger = createLogger(config.logLevel);
const metrics = new RuntimeMetrics();
processMetrics(metrics.registry, process.env);
const connection = await connectCluster();
const userAgent = 'coppice-api';
const client = new ClusterClient(connection, { userAgent, observe: metrics.observeRequest });
const redis = connectRedis(config.redis, logger);
redisMetrics(redis, metrics.registry);
const subscriber = connectRedis(config.redis, logger);
const informed = apiInformers(client, config.usersNamespace, logger, metrics);
const informers = Object.values(informed);
const caches = freshCaches(client, config.usersNamespace, informed);
// Most of a start is spent in lists of the API server, which run while the remaining modules are loaded.
for (const informer of informers) informer.start();
const [{ createApp }, { createAccessServer }] = await Promise.all([
  import('./app.ts'),
  import('./environment-access/create-access-server.ts'),
]);
const webSockets = new WebSockets();
const pages = withBuffers(redis);
const onRedisError = (error: unknown) => logger.warn({ err: error }, 'a log cannot be read from Redis; trying again');
const logReader = new LogReader({ redis: pages, subscriber, onRedisError });
const passwords = new Passwords(randomBytes);
const panel = readPanelFiles(join(import.meta.dirname, '../panel/dist'));
if (!panel) logger.warn('the panel is not built: run `npx node panel/build.ts`, then start again');
const commandLine = readCommandLine(join(import.meta.dirname, '../cli/dist/coppice.mjs'));
if (!commandLine) logger.warn('the command line is not built: run `npx node cli/build.ts`, then start again');
const accessKeys = new SecretFolder(
  config.accessKeysFolder,
  (files) =>
    readAccessKeys(Object.fromEntries([...files].map(([name, content]) => [name, content.toString('base64')]))),
  logger,
);
let isStopping = false;

const app = createApp({
  config,
  cluster: client,
  clusterReads: client,
  podStreams: new PodStreams(connection, userAgent),
  caches,
  sessions: redis,
  written: redis,
  replays: redis,
  writeBudget: redis,
  snapshots: redis,
  accessCodes: redis,
  accessKeys: accessKeys.current,
  limitStores: redisStores(redis),
  passwords,
  logReader,
  runtimeLogs: new RuntimeLogs({ redis, pages, reader: logReader, onRedisError }),
  webSockets,
  panel,
  commandLine,
  tester: testerClient(config.tester),
  now: Date.now,
  randomBytes,
  registry: metrics.registry,
  logger,
  // The audit log is written at every log level.
  auditLog: createLogger('info'),
});

const accessServer = createAccessServer({
  ...{ config, caches, redis, logger, now: Date.now, randomBytes },
  cluster: orderedWriter(client),
  keys: accessKeys.current,
});

const health = new HealthServer({
  port: config.healthPort,
  readyz: {
    informers: () => requireSynced(informers),
    redis: () => {
      if (!redis.isReady) throw new Error('Redis is not connected. Check that it runs');
    },
    shutdown: () => {
      if (isStopping) throw new Error('stopping');
    },
  },
  registry: metrics.registry,
  metricsToken: config.metricsToken,
});

await health.start();
await Promise.all(informers.map((informer) => informer.whenSynced()));
if (config.firstAdministrator) {
  const cluster = orderedWriter(client);
  const users = new UserStore(cluster, informed.users, config.usersNamespace);
  const memberships = new Memberships({ cluster, cache: caches.groups, directory: new Directory(caches) });
  const isMade = await ensureAdministrator(config.firstAdministrator, users, memberships, passwords, randomBytes);
  if (isMade) logger.info('created the account of the first administrator');
}
const { server, port } = await startServer(app, webSockets, config.port);
const accessPort = await accessServer.start(config.accessPort);
const stopWatchingKeys = accessKeys.watch();
logger.info({ port, healthPort: config.healthPort, accessPort }, 'listening');

async function stop(): Promise<void> {
  isStopping = true;
  await delay(drainMs);
  stopWatchingKeys();
  await Promise.all([stopServer(server, webSockets, graceMs), accessServer.stop()]);
  await Promise.all(informers.map((informer) => informer.stop()));
  redis.destroy();
  subscriber.destroy();
  await health.stop();
  client.close();
}

stopOnSignal(stop, logger);
