import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunQueue } from './runs/run-queue.ts';
import type { RunMetrics } from './runs/runs.ts';

/** What the tester counts, and how much waits and is at work. */
export function testerMetrics(registry: Registry, queue: RunQueue): RunMetrics {
  const registers = [registry];
  const ended = new Counter({
    name: 'coppice_tester_runs_total',
    help: 'Runs that have ended, by what came of them: passed, faulty, failed (could not run)',
    labelNames: ['type', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'coppice_tester_run_duration_seconds',
    help: 'Length of a run, without its time in the queue',
    labelNames: ['type'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const refused = new Counter({
    name: 'coppice_tester_refused_total',
    help: 'Runs that were refused since the queue was full',
    registers,
  });
  new Gauge({
    name: 'coppice_tester_queued',
    help: 'Runs that wait',
    registers,
    collect() {
      this.set(queue.waiting);
    },
  });
  new Gauge({
    name: 'coppice_tester_running',
    help: 'Runs at work',
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
