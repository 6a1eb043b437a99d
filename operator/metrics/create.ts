import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { findCondition } from '../../crds/conditions.ts';
import { ENVIRONMENT_STATES, type Environment } from '../../crds/environment.ts';
import { newestRequestId } from '../../crds/requests.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { buildTurns } from './build-turns.ts';

const buckets = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/**
 * Metrics of environments and builds, and a line in the log for each build that begins or ends. Builds are counted from
 * this call on; what there is, is counted when it is asked for.
 */
export function observeEnvironments(
  environments: Pick<Informer<Environment>, 'addHandler' | 'list'>,
  registry: Registry,
  logger: Pick<Logger, 'info'>,
  now: () => number = Date.now,
): void {
  const registers = [registry];
  countEnvironments(environments, registers);
  new Gauge({
    name: 'coppice_oldest_queued_build_seconds',
    help: 'How long ago the oldest of the builds that wait for their turn began; 0 when none waits',
    registers,
    collect() {
      const oldestMs = environments.list().reduce((most, one) => Math.max(most, queuedForMs(one, now())), 0);
      this.set(oldestMs / 1000);
    },
  });
  const builds = new Counter({
    name: 'coppice_builds_total',
    help: 'Builds that ended, by result and by the reason of the condition Built',
    labelNames: ['result', 'reason'],
    registers,
  });
  const seconds = new Histogram({
    name: 'coppice_build_duration_seconds',
    help: 'From the begin of a build to its end, its wait for a turn included',
    labelNames: ['result'],
    buckets,
    registers,
  });
  const stageSeconds = new Histogram({
    name: 'coppice_build_stage_duration_seconds',
    help: 'Of a build: until its images are in the registry, and until its services are up',
    labelNames: ['stage', 'result'],
    buckets,
    registers,
  });
  environments.addHandler((change, environment, old) => {
    if (change !== 'updated' || !old || old.metadata.uid !== environment.metadata.uid) return;
    const requestId = newestRequestId(environment.metadata.annotations);
    for (const told of buildTurns(old, environment)) {
      logger.info({ key: keyOf(environment), ...(requestId !== undefined && { requestId }), build: told }, 'build');
      if (told.turn === 'began') continue;
      const { result, reason } = told;
      builds.inc({ result, reason });
      seconds.observe({ result }, told.seconds);
      for (const stage of told.stages) stageSeconds.observe({ stage: stage.stage, result }, stage.seconds);
    }
  });
}

function countEnvironments(environments: Pick<Informer<Environment>, 'list'>, registers: Registry[]): void {
  new Gauge({
    name: 'coppice_environments',
    help: 'Environments, by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ENVIRONMENT_STATES) this.set({ state }, 0);
      for (const { status } of environments.list()) this.inc({ state: status?.state ?? 'empty' });
    },
  });
  new Gauge({
    name: 'coppice_environments_not_ready',
    help: 'Environments that wait or need somebody to act, by the reason of the condition Ready: Queued is the queue of builds',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const { status } of environments.list()) {
        const ready = findCondition(status?.conditions, 'Ready');
        if (ready && ready.status !== 'True') this.inc({ reason: ready.reason });
      }
    },
  });
}

/** Since when a build that waits for its turn has been under way, as its environment tells: a new operator knows it as well. */
function queuedForMs({ status }: Environment, now: number): number {
  const isQueued = findCondition(status?.conditions, 'Ready')?.reason === 'Queued';
  const { result, startedAt } = status?.build ?? {};
  return isQueued && result === 'running' && startedAt !== undefined ? now - Date.parse(startedAt) : 0;
}
