// Wires the operator: what it reads, who reconciles what, and in which order it all starts and stops.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { loadKubeConfig } from '../kubernetes/kube-config.ts';
import { ClusterClient } from '../kubernetes/client.ts';
import { HealthServer } from '../kubernetes/health-server.ts';
import { requireSynced } from '../kubernetes/require-synced.ts';
import { LeaderElector } from '../kubernetes/leader-election.ts';
import { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { stopOnSignal } from '../kubernetes/stop-on-signal.ts';
import { operatorCaches } from './caches.ts';
import { readConfig, readSecrets } from './config.ts';
import { createControllers } from './controllers.ts';
import { connectRedis } from './redis.ts';

const config = await readConfig(process.env['CONFIG_FILE'] ?? '/etc/coppice/operator.yaml');
const secrets = readSecrets(process.env);
const logger = pino({ level: config.logLevel });
const metrics = new RuntimeMetrics();
const client = new ClusterClient(loadKubeConfig(), {
  userAgent: 'coppice-operator',
  observe: metrics.observeRequest,
});
const redis = connectRedis(config.redisUrl, secrets.REDIS_PASSWORD, logger);
const caches = operatorCaches(client, logger, metrics);
const informers = Object.values(caches);

const elector = new LeaderElector({
  client,
  namespace: config.systemNamespace,
  name: 'coppice-operator',
  identity: `${secrets.POD_NAME}_${randomBytes(4).toString('hex')}`,
  logger,
  onChange: (leads) => metrics.setLeader('coppice-operator', leads),
  // Another operator may lead by now: whatever this one still does could only be in its way.
  onLost: (reason) => {
    logger.fatal({ err: reason }, 'leadership is lost');
    process.exit(1);
  },
});
const { controllers, logs } = await createControllers({ client, caches, redis, config, secrets, metrics, logger });
const health = new HealthServer({
  port: config.healthPort,
  readyz: {
    informers: () => requireSynced(informers),
  },
  registry: metrics.registry,
});

async function stop(): Promise<void> {
  await Promise.all(controllers.map((controller) => controller.stop()));
  logs.stopAll();
  await elector.stop();
  await Promise.all(informers.map((informer) => informer.stop()));
  redis.destroy();
  await health.stop();
  client.close();
}

stopOnSignal(stop, logger);

await health.start();
for (const informer of informers) informer.start();
if (await elector.acquire()) await Promise.all(controllers.map((controller) => controller.start()));
