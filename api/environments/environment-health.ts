import type { Environment } from '../../crds/environment.ts';
import { conditionThat, problemOf, shortened, type Health, type Problem } from '../http/health-view.ts';
import { isAsleep, wantsContents } from './contents.ts';
import { shownStatus } from './shown-status.ts';

type HealthInput = Pick<Environment, 'metadata' | 'spec' | 'status'>;

/** Reasons of Reconciling while the operator works; any other is something that it waits for. */
const inProgress = new Set([
  ...['Creating', 'BuildPending', 'Building', 'CollectingLogs', 'RemovingContents', 'Queued', 'Waking'],
  ...['StartingBuilder', 'WaitingForBuilder'],
]);

/** Returns the health of an environment and, unless it is healthy, the most specific reason. */
export function environmentHealth(environment: HealthInput): { health: Health; problem?: Problem } {
  const { conditions } = environment.status ?? {};
  const shown = shownStatus(environment);
  if (environment.metadata.deletionTimestamp !== undefined) return { health: 'progressing' };
  const stalled = conditionThat(conditions, 'Stalled', 'True');
  // A new request starts over: what failed before it is history.
  if (stalled && shown !== 'building') {
    const specific = conditionThat(conditions, 'Built', 'False') ?? conditionThat(conditions, 'Created', 'False');
    return { health: 'failed', problem: withService(environment, problemOf(specific ?? stalled)) };
  }
  const reconciling = conditionThat(conditions, 'Reconciling', 'True');
  const isBlocked = reconciling !== undefined && !inProgress.has(reconciling.reason);
  if (isBlocked) {
    const health = shown === 'built' ? 'degraded' : 'progressing';
    return { health, problem: withService(environment, problemOf(reconciling)) };
  }
  if (shown === 'building' || reconciling) return { health: 'progressing' };
  if (isAsleep(environment)) return { health: 'inactive' };
  if (shown !== 'built')
    return { health: wantsContents(environment) && shown === 'empty' ? 'progressing' : 'inactive' };
  const unready = environment.status?.services?.some(({ ready }) => !ready) === true;
  return { health: unready ? 'degraded' : 'healthy' };
}

/** Names the service if a single one is not ready, and reports why in place of the summary. */
function withService({ status }: HealthInput, problem: Problem): Problem {
  const failing = (status?.services ?? []).filter(({ ready, message }) => !ready && message !== undefined);
  const [only] = failing;
  if (failing.length !== 1 || !only) return problem;
  return { ...problem, message: shortened(only.message ?? problem.message), service: only.name };
}
