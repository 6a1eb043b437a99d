import type { ConditionReport } from '../../../crds/conditions.ts';
import { requestAnnotation, SYNC_REQUEST } from '../../../crds/requests.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { describeRetried } from '../../shared/conditions.ts';
import { rejectedByKubernetes } from '../../shared/errors.ts';
import { timeText } from '../../shared/time-text.ts';
import { HostBusyError } from '../../source/errors.ts';
import type { SyncPlan } from './sync-plan.ts';

const type = 'Synced';
const maxNamed = 3;

/** Shorter delays of the next listing are not reported. */
const minReportedGapMs = 10_000;

/** Returns the condition Synced after a sync. `gapMs`: minimum time until the refs are listed again. */
export function syncedReport(
  { counts, unusable, overLimit, forksOverLimit, heldBack, waiting, withheld }: SyncPlan,
  gapMs: number,
): ConditionReport {
  if (heldBack > 0) {
    const message =
      `the Git host lists no branch, so nothing was deleted; ${heldBack} environments belong to refs that it does ` +
      'not list. Push a branch, or delete the environments';
    return { type, status: 'False', reason: 'NoBranches', message };
  }
  const message =
    counts.branches === 0 ? 'the repository has no branch yet' : 'the environments are synchronized with the refs';
  const missing = [
    ...(withheld === undefined ? [] : [`spec.sync.dryRun is set, so ${withheld} refs get no environment`]),
    ...(unusable.length > 0 ? [leftOut(unusable)] : []),
    ...(overLimit > 0 ? [beyondLimit(overLimit)] : []),
    ...(forksOverLimit > 0 ? [beyondForkLimit(forksOverLimit)] : []),
    ...(waiting.length > 0
      ? [`${waiting.length} refs get one as soon as the previous one of that name is deleted`]
      : []),
  ];
  const slower = gapMs < minReportedGapMs ? [] : [listedLessOften(gapMs)];
  const reason = missing.length === 0 ? 'Synced' : 'SyncedInPart';
  return { type, status: 'True', reason, message: [message, ...missing, ...slower].join('; ') };
}

/** Rounded, so that the condition does not change with every ref. */
function listedLessOften(gapMs: number): string {
  const seconds = Math.ceil(gapMs / minReportedGapMs) * 10;
  return `the list of refs is so large that it is read at most every ${seconds} s: delete branches and tags that are not needed`;
}

function leftOut(names: readonly string[]): string {
  const named = names
    .slice(0, maxNamed)
    .map((name) => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name));
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return (
    `refs that are longer than 200 characters, start with a dash or are not UTF-8, and pull requests without a number ` +
    `from 1 to 999999999, have no environment: ` +
    `${named.join(', ')}${more}`
  );
}

function beyondLimit(count: number): string {
  return (
    `${count} more refs have no environment, because the repository, or the account that created its group, has reached ` +
    'the limit of automatic environments. Spawn those that you need, delete unused branches, or ask an administrator to ' +
    'raise the limit (sources.maxEnvironments, sources.maxEnvironmentsPerAccount)'
  );
}

function beyondForkLimit(count: number): string {
  return (
    `${count} pull requests from forks have no environment, because the repository has reached the limit of automatic ` +
    'environments of forks. Delete the contents of some, or ask an administrator to raise the limit (sources.maxForkEnvironments)'
  );
}

/** Returns the condition Synced after a failure of the host or a refusal by the cluster. */
export function unsyncedReport(error: unknown): ConditionReport {
  if (error instanceof ApiError) {
    const message = rejectedByKubernetes('an environment', error);
    return { type, status: 'False', reason: 'Refused', message };
  }
  const reason = error instanceof HostBusyError ? 'HostBusy' : 'HostUnreachable';
  return { type, status: 'False', reason, message: describeRetried(error) };
}

/** Returns the condition Synced before the first sync, which is due at `dueAt`, in Unix milliseconds. */
export function awaitedReport(dueAt: number): ConditionReport {
  const message =
    `the refs are first synchronized at ${timeText(new Date(dueAt))}, so that Environments can be applied before. To synchronize them now, ` +
    `set the annotation ${requestAnnotation(SYNC_REQUEST)} to a new value`;
  return { type, status: 'Unknown', reason: 'NotSyncedYet', message };
}

export function suspendedReport(): ConditionReport {
  const message = 'spec.suspend is set: the refs are not synchronized';
  return { type, status: 'False', reason: 'Suspended', message };
}
