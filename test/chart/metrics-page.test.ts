import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { memoryBudget } from '../../api/limits/memory-budget.ts';
import { EVENT_STREAMS, LOG_STREAMS, SHELL_SESSIONS, viewers } from '../../api/limits/viewers.ts';
import { requestMetrics } from '../../api/http/request-metrics.ts';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { observeEnvironments } from '../../operator/reports/metrics/environments.ts';
import { observeBuilders } from '../../operator/reports/metrics/builders.ts';
import { observeGroups } from '../../operator/reports/metrics/groups.ts';
import { housekeepingMetrics } from '../../operator/reports/metrics/housekeeping.ts';
import { observeRepositories } from '../../operator/reports/metrics/repositories.ts';
import { createImageCollector } from '../../operator/controllers/images.ts';
import { createOrphanSweeper } from '../../operator/controllers/orphans.ts';
import { buildInfo } from '../../process/process-metrics.ts';
import { redisMetrics } from '../../process/redis-metrics.ts';
import { tokenMetrics } from '../../registry-tokens/metrics.ts';
import { testerMetrics } from '../../tester/metrics.ts';
import { wakerMetrics } from '../../waker/metrics.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** Returns all metrics of operator, API, tester and token server, except those of prom-client. */
function exported(): { name: string; type: string; labels: string[] }[] {
  const metrics = new RuntimeMetrics();
  const { registry } = metrics;
  const environments = { addHandler: () => () => undefined, list: () => [] };
  observeEnvironments(environments, registry, silentLogger);
  createOrphanSweeper({ metrics, caches: {}, logger: silentLogger, now: () => new Date() } as never);
  createImageCollector({ metrics, registries: {}, config: { registry: {} } } as never);
  housekeepingMetrics(registry);
  const groups = { addHandler: () => () => undefined };
  observeGroups({ environments, groups }, registry);
  observeRepositories({ list: () => [] }, registry);
  observeBuilders({ builderSecrets: { list: () => [] }, pods: { get: () => undefined } }, registry, Date.now);
  buildInfo(registry, {});
  redisMetrics({ isReady: false, info: () => Promise.resolve('') }, registry);
  const ofLimits = { refused: () => undefined };
  memoryBudget(1, registry);
  viewers(LOG_STREAMS, ofLimits, registry);
  viewers(EVENT_STREAMS, ofLimits, registry);
  viewers(SHELL_SESSIONS, ofLimits, registry);
  requestMetrics(registry, Date.now);
  const ofTester = new Registry();
  testerMetrics(ofTester, { waiting: 0, atWork: 0 } as never);
  const ofTokenServer = new Registry();
  tokenMetrics(ofTokenServer);
  const ofWaker = new Registry();
  wakerMetrics(ofWaker, { size: 0 }, { total: 0 });
  return [registry, ofTester, ofTokenServer, ofWaker]
    .flatMap((one) => one.getMetricsAsArray())
    .map((metric) => {
      const { name, type, labelNames } = metric as unknown as { name: string; type: string; labelNames: string[] };
      return { name, type, labels: [...labelNames] };
    });
}

/** Returns the metrics that the page lists. */
function documented(): { name: string; type: string; labels: string[] }[] {
  const text = readFileSync(join(REPOSITORY_ROOT, 'docs/reference/metrics.md'), 'utf8');
  return [...text.matchAll(/^- `([a-z_]+)` \((counter|gauge|histogram)(?:: ([^)]*))?\)/gm)].map(
    ([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.match(/(?<=`)\w+(?=`)/g) ?? [] }),
  );
}

test('is described in docs/reference/metrics.md with every metric, its type and labels', () => {
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(documented().sort(byName)).toEqual(exported().sort(byName));
});
