// Wires the API's components, and starts and stops them in order.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { LogReader } from '../build-logs/reader.ts';
import { readAccessKeys } from '../environment-access/keys.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import type { ClusterConnection } from '../kubernetes/cluster-connection.ts';
import { PodStreams } from '../kubernetes/pod-streams.ts';
import { createLogger } from '../process/logger.ts';
import { connectRedis, withBuffers } from '../process/redis-connection.ts';
import { redisMetrics } from '../process/redis-metrics.ts';
import { SecretFolder } from '../process/secret-folder.ts';
import { testerClient } from '../tester-client/client.ts';
import { createApp } from './app.ts';
import { Passwords } from './auth/passwords.ts';
import { UserStore } from './auth/user-store.ts';
import { Directory } from './auth/visibility.ts';
import { freshCaches, type ApiInformers } from './cluster/informers.ts';
import { orderedWriter } from './cluster/ordered-writer.ts';
import { readCommandLine } from './command-line/router.ts';
import type { Config } from './config.ts';
import { createAccessServer } from './environment-access/create-access-server.ts';
import { RuntimeLogs } from './environments/runtime-logs.ts';
import { Memberships } from './groups/memberships.ts';
import { startServer, stopServer } from './http/server.ts';
import { WebSockets } from './http/web-sockets.ts';
import { redisStores } from './limits/rate-limit.ts';
import { readPanelFiles } from './panel/panel-files.ts';
import { ensureAdministrator } from './users/first-administrator.ts';

/** Time in which proxies learn that this endpoint is not ready, and stop sending requests. */
const drainMs = 3000;
/** Maximum time for requests to end; shorter than the 30 s after which Kubernetes kills the container. */
const graceMs = 20_000;

export interface ServeOptions {
  config: Config;
  logger: Logger;
  registry: Registry;
  connection: ClusterConnection;
  userAgent: string;
  client: ClusterClient;
  /** Started informers. */
  informed: ApiInformers;
}

/** The API while it listens. */
export interface RunningApi {
  /** Resolves when Redis has been connected for the first time. */
  connected: Promise<unknown>;
  /** @throws Error while Redis is not connected */
  requireRedis(): void;
  /** @throws Error once it stops */
  requireNotStopping(): void;
  /** Resolves when all requests have ended, or been ended. */
  stop(): Promise<void>;
}

/** Starts to listen once the caches are filled. */
export async function serve(options: ServeOptions): Promise<RunningApi> {
  const { config, logger, registry, connection, userAgent, client, informed } = options;
  const redis = connectRedis(config.redis, logger);
  const connected = new Promise((resolve) => redis.once('ready', resolve));
  redisMetrics(redis, registry);
  const subscriber = connectRedis(config.redis, logger);
  const caches = freshCaches(client, config.usersNamespace, informed);
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
    registry,
    logger,
    // The audit log is written at every log level.
    auditLog: createLogger('info'),
  });

  const accessServer = createAccessServer({
    ...{ config, caches, redis, logger, now: Date.now, randomBytes },
    cluster: orderedWriter(client),
    keys: accessKeys.current,
  });

  await Promise.all(Object.values(informed).map((informer) => informer.whenSynced()));
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

  let isStopping = false;
  return {
    connected,
    requireRedis() {
      if (!redis.isReady) throw new Error('Redis is not connected. Check that it runs');
    },
    requireNotStopping() {
      if (isStopping) throw new Error('stopping');
    },
    async stop() {
      isStopping = true;
      await delay(drainMs);
      stopWatchingKeys();
      await Promise.all([stopServer(server, webSockets, graceMs), accessServer.stop()]);
      redis.destroy();
      subscriber.destroy();
    },
  };
}
