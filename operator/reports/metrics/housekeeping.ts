import { Gauge, type Registry } from 'prom-client';
import type { HousekeepingRecord, HousekeepingTaskName } from '../../kinds/housekeeping/record.ts';

/** Registers metrics of housekeeping; returns a function that sets them to what is stored of a task. */
export function housekeepingMetrics(
  registry: Registry,
): (task: HousekeepingTaskName, record: HousekeepingRecord) => void {
  const common = { labelNames: ['task'], registers: [registry] };
  const next = new Gauge({
    name: 'coppice_housekeeping_next_run_timestamp_seconds',
    help: 'When the task runs next, in Unix seconds',
    ...common,
  });
  const last = new Gauge({
    name: 'coppice_housekeeping_last_run_timestamp_seconds',
    help: 'When the last run of the task started, in Unix seconds',
    ...common,
  });
  const duration = new Gauge({
    name: 'coppice_housekeeping_last_run_duration_seconds',
    help: 'Duration of the last run of the task',
    ...common,
  });
  const success = new Gauge({
    name: 'coppice_housekeeping_last_run_success',
    help: '1 if the last run of the task succeeded, 0 if it failed',
    ...common,
  });
  return (task, { nextRun, lastRun }) => {
    next.set({ task }, nextRun.getTime() / 1000);
    if (!lastRun) return;
    last.set({ task }, lastRun.at.getTime() / 1000);
    duration.set({ task }, lastRun.seconds);
    success.set({ task }, lastRun.outcome === 'succeeded' ? 1 : 0);
  };
}
