import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';

export interface RolloutDeadline {
  /** When to stop waiting for the services. */
  givesUpAt: Date;
  requeueAfterMs: number;
}

/**
 * Returns until when to wait for services. Throws Stalled when their time is over, or when nothing can make them ready
 * any more. The time restarts when a job has ended: jobs have their own deadline.
 */
export function rolloutDeadline(
  build: Pick<BuildStatus, 'rolloutStartedAt'>,
  { waitingFor, jobsEndAt, outlook }: Pick<RolloutProgress, 'waitingFor' | 'jobsEndAt' | 'outlook'>,
  deadlineSeconds: number,
  at: Date,
): RolloutDeadline {
  const now = at.getTime();
  const rolloutStartedAt = Date.parse(build.rolloutStartedAt ?? at.toISOString());
  const startedAt = Math.max(rolloutStartedAt, jobsEndAt?.getTime() ?? 0);
  const deadline = startedAt + deadlineSeconds * 1000;
  if (now >= deadline) {
    throw new Stalled(
      'RolloutFailed',
      `not ready after ${deadlineSeconds} s: ${waitingFor.map(withReason).join('; ')}`,
    );
  }
  const failsAt = failureTime(outlook, deadline);
  if (failsAt !== undefined && failsAt <= now) {
    const seconds = Math.max(0, Math.round((now - rolloutStartedAt) / 1000));
    const words = `not ready after ${seconds} s, and more time would not help: ${waitingFor.join('; ')}`;
    throw new Stalled('RolloutFailed', words);
  }
  return { givesUpAt: new Date(deadline), requeueAfterMs: Math.min(deadline, failsAt ?? deadline) - now };
}

/** Adds what to do where a service's pods show no reason, for example because their node is too busy to start them. */
function withReason(service: string): string {
  if (service.includes(': ')) return service;
  return `${service}: its pods show no reason. Build again and, if that fails too, ask an administrator to check the nodes`;
}

/** Returns when services certainly cannot become ready, in milliseconds since 1970. */
function failureTime(outlook: RolloutProgress['outlook'], deadline: number): number | undefined {
  // A container that is not restarted before the deadline has had its last try.
  if ((outlook?.retriesAt?.getTime() ?? 0) >= deadline) return 0;
  return outlook?.failsAt?.getTime();
}
