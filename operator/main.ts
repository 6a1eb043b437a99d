// Wires the operator: what it reads, who reconciles what, and in which order it all starts and stops.
import { randomBytes } from 'node:crypto';
import { connectCluster } from '../kubernetes/cluster-connection.ts';
import { ClusterClient } from '../kubernetes/client.ts';
import { EventRecorder } from '../kubernetes/event-recorder.ts';
import { requireSynced } from '../kubernetes/require-synced.ts';
import { LeaderElector } from '../kubernetes/leader-election.ts';
import { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { connectRedis } from '../process/redis-connection.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { redisMetrics } from '../process/redis-metrics.ts';
import { HealthServer } from '../process/health-server.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { operatorCaches } from './controllers/caches.ts';
import { logFindings } from './cluster-checks/report.ts';
import { readConfig, readSecrets } from './config.ts';
import { createControllers } from './controllers/create-controllers.ts';
import { createEventReporters } from './reports/events/record.ts';
import { LEASE_TIMES } from './controllers/lease-times.ts';
import { observeBuilders } from './reports/metrics/builders.ts';
import { observeEnvironments } from './reports/metrics/environments.ts';
import { observeGroups } from './reports/metrics/groups.ts';
import { observeRepositories } from './reports/metrics/repositories.ts';
import { createRegistryAccess } from './controllers/registry-access.ts';
import { createRuntimeLogs } from './controllers/runtime-logs.ts';
import { createEmptyScratchFolder } from './source/git/scratch-folder.ts';
import { Flows } from './source/hosts/flows.ts';

const config = await readConfig(process.env['CONFIG_FILE'] ?? '/etc/coppice/operator.yaml');
const secrets = readSecrets(process.env);
const logger = createLogger(config.logLevel);
const metrics = new RuntimeMetrics();
processMetrics(metrics.registry, process.env);
const client = new ClusterClient(await connectCluster(), {
  userAgent: 'coppice-operator',
  observe: metrics.observeRequest,
});
const redisAddress = { url: config.redisUrl, password: secrets.REDIS_PASSWORD };
const redis = connectRedis(redisAddress, logger);
redisMetrics(redis, metrics.registry);
const subscriber = connectRedis(redisAddress, logger);
const usesGateways = config.ingress.parentRefs.length > 0;
const usesMiddlewares = config.ingress.enforcement?.by === 'traefik-gateway';
const { systemNamespace } = config;
const selection = { usesGateways, usesMiddlewares, systemNamespace };
const caches = operatorCaches(client, config.builder.namespace, logger, metrics, selection);
const informers = Object.values(caches);

const elector = new LeaderElector({
  client,
  namespace: config.systemNamespace,
  name: 'coppice-operator',
  identity: `${secrets.POD_NAME}_${randomBytes(4).toString('hex')}`,
  logger,
  ...LEASE_TIMES,
  onChange: (leads) => metrics.setLeader('coppice-operator', leads),
  // Another operator may lead by now, so this one must not change anything any more.
  onLost: (reason) => {
    logger.fatal({ err: reason }, 'leadership was lost');
    process.exit(1);
  },
});
const flows = new Flows(caches);
const runtimeLogs = createRuntimeLogs({ client, caches, flows, redis, logger });
const events = new EventRecorder({
  client,
  controller: 'coppice.dev/operator',
  instance: secrets.POD_NAME,
  flowOf: (regarding) => flows.ofObject(regarding),
  logger,
  metrics: metrics.forEvents(),
});
const registryAccess = createRegistryAccess(config, secrets, client, logger);
const scratch = createEmptyScratchFolder('coppice-operator');
const context = { client, caches, redis, config, secrets, ...registryAccess, metrics, events, flows, logger, scratch };
const { controllers, logs, wakers, housekeeping } = createControllers(context);
const health = new HealthServer({
  port: config.healthPort,
  readyz: {
    informers: () => requireSynced(informers),
  },
  registry: metrics.registry,
  metricsToken: secrets.METRICS_TOKEN,
});

async function stop(): Promise<void> {
  await housekeeping.stop();
  await Promise.all(controllers.map((controller) => controller.stop()));
  logs.stopAll();
  wakers?.stop();
  runtimeLogs.stop();
  await events.stop();
  await elector.stop();
  await Promise.all(informers.map((informer) => informer.stop()));
  redis.destroy();
  subscriber.destroy();
  await health.stop();
  client.close();
}

stopOnSignal(stop, logger);

await health.start();
for (const informer of informers) informer.start();
if (await elector.acquire()) {
  // No environment is to wait for a credential because of a restart.
  await registryAccess.tokenSecrets?.reconcile();
  createEventReporters(caches, events);
  void logFindings(client, config, logger);
  observeEnvironments(caches.environments, metrics.registry, logger);
  observeGroups(caches, metrics.registry);
  observeRepositories(caches.repositories, metrics.registry);
  observeBuilders(caches, metrics.registry, Date.now);
  runtimeLogs.start(subscriber);
  wakers?.start();
  housekeeping.start();
  await Promise.all(controllers.map((controller) => controller.start()));
}
