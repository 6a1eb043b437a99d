import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type {
  RolloutProgress,
  ServiceProgress,
  SetUpServices,
  StoppingServices,
} from '../../../services/rollout/progress.ts';
import { soonest, type PhaseResult } from '../scope/phase.ts';

/** Minimum interval between status writes that only change restart counts. */
export const RESTARTS_MS = 60_000;

/** How long Kubernetes takes to put ready pods behind their Service, about. */
const WAKERS_MS = 300;

export type ServicesResult = PhaseResult<'services' | 'aliases', 'Available'>;

/** Returns a service's report: the previous one if only restarts are new and others were written recently. */
export function withQuietRestarts(before: ServiceProgress, service: ServiceProgress, now: Date): ServiceProgress {
  const reportedAt = Date.parse(before.lastTermination?.finishedAt ?? '');
  const { restarts, lastTermination } = before;
  const quiet = { ...service, restarts, lastTermination };
  const isNews = !isDeepStrictEqual(quiet, { ...before, restarts, lastTermination });
  if (
    isNews ||
    service.restarts === restarts ||
    Number.isNaN(reportedAt) ||
    now.getTime() - reportedAt >= RESTARTS_MS
  ) {
    return service;
  }
  return quiet;
}

/**
 * Reports the progress of a rollout. A container that crashes in a loop would cause a status write for each restart, so
 * new restart counts are reported at most once per RESTARTS_MS, and the Environment is requeued to report the rest.
 */
export function rolledOut(
  reported: EnvironmentStatus['services'],
  progress: RolloutProgress,
  now: Date,
): ServicesResult {
  const services = progress.services.map((service) => {
    const before = reported?.find(({ name }) => name === service.name);
    return before ? withQuietRestarts(before, service, now) : service;
  });
  const isQuiet = services.some((service, index) => service !== progress.services[index]);
  return {
    status: servicesStatus({ ...progress, services }),
    conditions: {
      Available: progress.done
        ? { status: 'True', reason: 'Running', message: 'every service is ready' }
        : { status: 'False', reason: 'Waiting', message: `waiting for ${progress.waitingFor.join('; ')}` },
    },
    observed: { progress },
    requeueAfterMs: soonest(
      isQuiet ? RESTARTS_MS : undefined,
      progress.wakers === 'leaving' ? WAKERS_MS : undefined,
      progress.recoversAt && progress.recoversAt.getTime() - now.getTime(),
    ),
  };
}

/** Reports that the services are set up and none runs. */
export function notRunning(services: SetUpServices): ServicesResult {
  return { status: servicesStatus(services), conditions: { Available: undefined } };
}

export type StoppedResult = PhaseResult<'services' | 'aliases', 'Available' | 'Asleep'>;

/** Reports that the services of a sleeping environment are stopped, or which ones still run. */
export function stopping({ running, ...services }: StoppingServices): StoppedResult {
  const conditions = { Available: undefined };
  if (running.length === 0) return { status: servicesStatus(services), conditions };
  const message = `waiting for ${running.join(', ')} to stop`;
  return {
    status: servicesStatus(services),
    conditions: { ...conditions, Asleep: { status: 'False', reason: 'FallingAsleep', message } },
  };
}

function servicesStatus({ services, aliases }: SetUpServices): Pick<EnvironmentStatus, 'services' | 'aliases'> {
  return { services, aliases: Object.keys(aliases).length > 0 ? aliases : undefined };
}
