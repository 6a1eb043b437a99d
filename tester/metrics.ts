import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunQueue } from './runs/run-queue.ts';
import type { RunMetrics } from './runs/runs.ts';

/** Registers the tester's metrics, including the numbers of waiting and running tests. */
export function testerMetrics(registry: Registry, queue: RunQueue): RunMetrics {
  const registers = [registry];
  const ended = new Counter({
    name: 'coppice_tester_runs_total',
    help: 'Finished runs, by outcome: passed, faulty, failed (could not run)',
    labelNames: ['type', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'coppice_tester_run_duration_seconds',
    help: 'Duration of a run, without its time in the queue',
    labelNames: ['type'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const refused = new Counter({
    name: 'coppice_tester_refused_total',
    help: 'Runs refused because the queue was full',
    registers,
  });
  new Gauge({
    name: 'coppice_tester_queued',
    help: 'Waiting runs',
    registers,
    collect() {
      this.set(queue.waiting);
    },
  });
  new Gauge({
    name: 'coppice_tester_running',
    help: 'Running runs',
    registers,
    collect() {
      this.set(queue.atWork);
    },
  });
  return {
    ended: (type, result, took) => {
      ended.inc({ type, result });
      seconds.observe({ type }, took);
    },
    refused: () => refused.inc(),
  };
}
