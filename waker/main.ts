// Wires the waker, which has no access to the Kubernetes API: the operator connects to it, and reports what it needs.
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { HealthServer } from '../process/health-server.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { readConfig } from './config.ts';
import { ControlServer } from './control-server.ts';
import { Environments } from './environments.ts';
import { RequestSlots } from './request-slots.ts';
import { wakerMetrics } from './metrics.ts';
import { Proofs } from './proof.ts';
import { WakerServer } from './server.ts';
import { Visits } from './visits.ts';

const config = readConfig(process.env);
const logger = createLogger(config.LOG_LEVEL);
const registry = new Registry();
processMetrics(registry, process.env);
const key = readFileSync(config.KEY_FILE, 'utf8').trim();
const now = Date.now;
const environments = new Environments({ lingerMs: 60_000, now });
const slots = (max: number, maxPerEnvironment: number) => {
  return new RequestSlots({
    ...{ max, maxPerEnvironment },
    maxPerGroup: Math.ceil(max / 4),
    maxPerTenant: Math.ceil(max / 2),
  });
};
/**
 * The default of 2000 has room in the chart's memory limit, even with headers of the maximum size and unread bodies:
 * docs/reference/limits.md.
 */
const maxConnections = 2 * config.MAX_HELD;
const open = slots(maxConnections, maxConnections);
const held = slots(config.MAX_HELD, config.MAX_HELD_PER_ENVIRONMENT);
const streams = slots(Math.ceil(config.MAX_HELD / 2), Math.ceil(config.MAX_HELD_PER_ENVIRONMENT / 2));
const control: ControlServer = new ControlServer({
  key,
  onConnected: () => {
    const receive = environments.receiver();
    return (message) => {
      receive(message);
      if (message.type === 'synced') visits.repeat(held.keys);
    };
  },
  logger,
});
const visits = new Visits({ send: (message) => control.send(message), intervalMs: 2000, now });
const count = wakerMetrics(registry, environments, held);
const proofs = new Proofs(key, now);
const server = new WakerServer({
  ...{ environments, open, held, streams, visits, proofs, count, logger, maxConnections },
  holdMs: config.HOLD_SECONDS * 1000,
});
const health = new HealthServer({
  port: config.HEALTH_PORT,
  readyz: {
    operator: () => {
      if (environments.isSynced) return;
      throw new Error('no operator has connected since the start. Check that one leads, and the network policies');
    },
  },
  registry,
  metricsToken: config.METRICS_TOKEN,
});
await health.start();
await control.start(config.CONTROL_PORT);
const port = await server.start(config.PORT);
const timer = setInterval(() => {
  visits.repeat(held.keys);
  environments.sweep();
}, 5000);
logger.info({ port }, 'listening');
stopOnSignal(async () => {
  // The operator's connection stays until held requests are answered: it reports when their services run.
  await server.stop(config.HOLD_SECONDS * 1000);
  clearInterval(timer);
  await Promise.all([control.stop(), health.stop()]);
}, logger);
