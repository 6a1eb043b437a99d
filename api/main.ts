// Starts to fill the caches, meanwhile loads everything else, and reports when requests can be sent.
import { ClusterClient } from '../kubernetes/client.ts';
import { connectCluster } from '../kubernetes/cluster-connection.ts';
import { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { requireSynced } from '../kubernetes/require-synced.ts';
import { HealthServer } from '../process/health-server.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { apiInformers } from './cluster/informers.ts';
import { parseConfig } from './config.ts';
import type { RunningApi } from './serve.ts';

const config = parseConfig(process.env);
const logger = createLogger(config.logLevel);
const metrics = new RuntimeMetrics();
processMetrics(metrics.registry, process.env);
const connection = await connectCluster();
const userAgent = 'coppice-api';
const client = new ClusterClient(connection, { userAgent, observe: metrics.observeRequest });
const informed = apiInformers(client, config.usersNamespace, logger, metrics);
const informers = Object.values(informed);
// The API server writes the first pages of its lists while most modules are loaded.
for (const informer of informers) informer.start();

const started = Promise.withResolvers<unknown>();
const api: { running?: RunningApi } = {};
function requireRunning(): RunningApi {
  if (!api.running) throw new Error('the API is starting');
  return api.running;
}
const health = new HealthServer({
  port: config.healthPort,
  readyz: {
    informers: () => requireSynced(informers),
    redis: () => requireRunning().requireRedis(),
    shutdown: () => requireRunning().requireNotStopping(),
  },
  started: started.promise,
  registry: metrics.registry,
  metricsToken: config.metricsToken,
});
await health.start();

const { serve } = await import('./serve.ts');
const running = await serve({ config, logger, registry: metrics.registry, connection, userAgent, client, informed });
api.running = running;
void running.connected.then(started.resolve);

stopOnSignal(async () => {
  await running.stop();
  await Promise.all(informers.map((informer) => informer.stop()));
  await health.stop();
  client.close();
}, logger);
