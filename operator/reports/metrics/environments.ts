import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { findCondition } from '../../../crds/conditions.ts';
import { ENVIRONMENT_STATES, type Environment } from '../../../crds/environment.ts';
import { newestRequestId } from '../../../crds/requests.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf } from '../../../kubernetes/resource-type.ts';
import { buildTransitions } from './build-transitions.ts';

const buckets = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/**
 * Registers metrics of environments and builds, and logs each start and end of a build. Builds are counted from this
 * call on; gauges are computed at each scrape.
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
    help: 'Age of the oldest queued build; 0 if none is queued',
    registers,
    collect() {
      const oldestMs = environments.list().reduce((max, one) => Math.max(max, queuedForMs(one, now())), 0);
      this.set(oldestMs / 1000);
    },
  });
  const builds = new Counter({
    name: 'coppice_builds_total',
    help: 'Finished builds, by result and by the reason of the condition Built',
    labelNames: ['result', 'reason'],
    registers,
  });
  const seconds = new Histogram({
    name: 'coppice_build_duration_seconds',
    help: 'Duration of a build, including its time in the queue',
    labelNames: ['result'],
    buckets,
    registers,
  });
  const stageSeconds = new Histogram({
    name: 'coppice_build_stage_duration_seconds',
    help: "Duration of a build's stages: until its images are in the registry, and until its services are ready",
    labelNames: ['stage', 'result'],
    buckets,
    registers,
  });
  environments.addHandler((change, environment, old) => {
    if (change !== 'updated' || !old || old.metadata.uid !== environment.metadata.uid) return;
    const requestId = newestRequestId(environment.metadata.annotations);
    for (const transition of buildTransitions(old, environment)) {
      logger.info(
        { key: keyOf(environment), ...(requestId !== undefined && { requestId }), build: transition },
        'build',
      );
      if (transition.transition === 'started') continue;
      const { result, reason } = transition;
      builds.inc({ result, reason });
      seconds.observe({ result }, transition.seconds);
      for (const stage of transition.stages) stageSeconds.observe({ stage: stage.stage, result }, stage.seconds);
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
    help: 'Environments that are not ready, by the reason of the condition Ready: Queued is the build queue',
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

/**
 * Returns how long a build has been queued, in milliseconds, from the environment's status, which survives a restart of
 * the operator.
 */
function queuedForMs({ status }: Environment, now: number): number {
  const isQueued = findCondition(status?.conditions, 'Ready')?.reason === 'Queued';
  const { result, startedAt } = status?.build ?? {};
  return isQueued && result === 'running' && startedAt !== undefined ? now - Date.parse(startedAt) : 0;
}
