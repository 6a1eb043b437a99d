// Wires the tester's components, and starts and stops them in order.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../process/process-metrics.ts';
import { redisMetrics } from '../process/redis-metrics.ts';
import { HealthServer } from '../process/health-server.ts';
import { connectRedis } from '../process/redis-connection.ts';
import { stopOnSignal } from '../process/stop-on-signal.ts';
import { remotePageLoader } from './browser/remote-page-loader.ts';
import { parseConfig } from './config.ts';
import { createApp } from './http/app.ts';
import { close, listen } from './http/server.ts';
import { testerMetrics } from './metrics.ts';
import { RunQueue } from './runs/run-queue.ts';
import { RunStore } from './runs/run-store.ts';
import { Runs } from './runs/runs.ts';
import { allTests } from './test-types/all-tests.ts';

const config = parseConfig(process.env);
const logger = createLogger(config.logLevel);
const readToken = (): string => {
  const token = readFileSync(config.tokenFile, 'utf8').trim();
  if (token.length < 20) throw new Error('the file TESTER_TOKEN_FILE must contain a token of at least 20 characters');
  return token;
};
readToken(); // Fails now rather than at the first request.
const { environments } = config;
const registry = new Registry();
processMetrics(registry, process.env);
const now = () => performance.now();
const queue = new RunQueue(config.limits);
const redis = connectRedis(config.redis, logger);
redisMetrics(redis, registry);
const loadPage = remotePageLoader(config.browserUrl);
const tests = await allTests({ environments, now, loadPage });
const runs = new Runs({
  store: new RunStore(redis, config.keep, Date.now),
  queue,
  tests,
  groupOf: (url) => environments.groupOf(url),
  deadlineMs: config.deadlineMs,
  randomToken: () => randomBytes(24).toString('base64url'),
  now,
  metrics: testerMetrics(registry, queue),
  logger,
});
let isStopping = false;

const ready = () => {
  if (isStopping) throw new Error('stopping');
  if (!redis.isReady) throw new Error('Redis is not connected. Check that it runs');
  if (!runs.isRecovered) throw new Error('runs of the previous tester have not been recovered yet');
};
const health = new HealthServer({
  port: config.healthPort,
  readyz: { tester: ready },
  registry,
  metricsToken: config.metricsToken,
});
await health.start();
const server = await listen(createApp({ readToken, tests, environments, runs, logger }), config.port);
logger.info({ port: config.port, healthPort: config.healthPort, tests: [...tests.keys()] }, 'listening');
stopOnSignal(async () => {
  isStopping = true;
  await runs.stop();
  await Promise.all([close(server), health.stop()]);
  redis.destroy();
}, logger);
await runs.recover();
