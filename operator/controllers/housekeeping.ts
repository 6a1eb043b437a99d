import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { BuildLogRetention } from '../../build-logs/retention.ts';
import { MIN_UPTIME_MS } from '../images/build/image-collector.ts';
import { CronTimers } from '../kinds/housekeeping/cron-timers.ts';
import { Housekeeping, type HousekeepingTask, type RunReport } from '../kinds/housekeeping/housekeeping.ts';
import { HOUSEKEEPING_TASKS, type HousekeepingTaskName } from '../kinds/housekeeping/record.ts';
import { RecordStore } from '../kinds/housekeeping/record-store.ts';
import { housekeepingMetrics } from '../reports/metrics/housekeeping.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';
import { createImageCollector } from './images.ts';
import { createOrphanSweeper } from './orphans.ts';

export interface HousekeepingOptions {
  retention: Pick<BuildLogRetention, 'sweep'>;
  builders: Pick<Controller, 'enqueue'>;
}

export interface HousekeepingController {
  controller: Controller;
  /** Starts the timers of the schedules; called when this operator leads. */
  start: () => void;
  stop: () => Promise<void>;
}

type Task = Pick<HousekeepingTask, 'run' | 'notBefore'>;

/** Creates the controller that runs housekeeping when its schedules are due. */
export function housekeepingController(context: OperatorContext, options: HousekeepingOptions): HousekeepingController {
  const { client, config, metrics, now, logger } = context;
  const { timeZone, schedules } = config.housekeeping;
  const timers = new CronTimers(logger);
  const running = new Map<HousekeepingTaskName, HousekeepingTask>();
  const reconciler = new Housekeeping({
    tasks: running,
    records: new RecordStore(client, config.systemNamespace),
    observe: housekeepingMetrics(metrics.registry),
    now,
    logger,
  });
  // The tasks do not wait for each other.
  const workers = HOUSEKEEPING_TASKS.length;
  const controller = createController(context, { name: 'housekeeping', reconciler, workers });
  const start = () => {
    const tasks = createTasks(context, options);
    for (const name of HOUSEKEEPING_TASKS) {
      const task = tasks[name];
      if (!task) continue;
      const schedule = { expression: schedules[name], timeZone };
      const nextDue = timers.add(schedule, () => controller.enqueue(name));
      running.set(name, { ...task, schedule, nextDue });
      controller.enqueue(name);
    }
  };
  return { controller, start, stop: () => timers.stop() };
}

/** Returns what each task does; undefined if it is disabled. */
function createTasks(
  context: OperatorContext,
  { retention, builders }: HousekeepingOptions,
): Record<HousekeepingTaskName, Task | undefined> {
  const { config, caches, now } = context;
  const images = createImageCollector(context);
  const orphans = createOrphanSweeper(context);
  const notBefore = new Date(now().getTime() + MIN_UPTIME_MS);
  return {
    images: config.registry.keepUnusedHours > 0 ? { notBefore, run: () => images.run() } : undefined,
    orphans: { run: () => orphans.run() },
    logs: { run: () => sweepLogs(context, retention) },
    certificates: { run: () => renewCertificates(context, builders, caches.builderSecrets.list()) },
  };
}

async function sweepLogs({ caches }: OperatorContext, retention: HousekeepingOptions['retention']): Promise<RunReport> {
  const uids = new Set(caches.environments.list().map(({ metadata }) => metadata.uid));
  const { dropped, left } = await retention.sweep((uid) => uids.has(uid));
  return { message: `${dropped} build logs deleted, ${left} left` };
}

/**
 * Rotates the keys of access tokens and registry credentials, and requeues the builders, which renew certificates that
 * expire soon.
 */
async function renewCertificates(
  { accessKeys, tokenSecrets }: OperatorContext,
  builders: HousekeepingOptions['builders'],
  builderSecrets: readonly Parameters<typeof keyOf>[0][],
): Promise<RunReport> {
  for (const secret of builderSecrets) builders.enqueue(keyOf(secret));
  await accessKeys.reconcile();
  await tokenSecrets?.reconcile();
  return { message: `keys checked, and the certificates of ${builderSecrets.length} builders` };
}
