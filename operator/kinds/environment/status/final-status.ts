import { findCondition, mergeConditions, type ConditionReport } from '../../../../crds/conditions.ts';
import type { EnvironmentState, EnvironmentStatus } from '../../../../crds/environment.ts';
import { cut } from '../../../shared/one-line.ts';
import type { ConditionChange } from '../scope/contribution.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { buildOfContents, deriveState } from './state.ts';
import type { SummaryInput } from './summary.ts';

const maxMessage = 8000;

/** Returns the input of an Environment's summary. `error`: the error that ended the reconcile. */
export function summaryInput(scope: EnvironmentScope, error: unknown): SummaryInput {
  const { progress, givesUpAt, awaitsApproval } = scope.contributed.observed;
  const isHeld = scope.status.approval?.waitingCommit !== undefined;
  return {
    state: stateOf(scope),
    present: scope.isPresent,
    wanted: scope.isActive,
    deleting: scope.environment.metadata.deletionTimestamp !== undefined,
    expired: expiryIn(scope.status),
    asleep: scope.isAsleep,
    waking: isWaking(scope),
    // A stranger's commit does not affect what is deployed; the condition Approved reports that it waits.
    buildPending: scope.isBuildPending && awaitsApproval !== true,
    build: buildOfContents(scope.status),
    heldForApproval: isHeld ? findCondition(scope.before.conditions, 'Approved')?.message : undefined,
    available: progress?.done,
    waitingFor: progress?.waitingFor ?? [],
    givesUpAt,
    wasReady: findCondition(scope.before.conditions, 'Ready')?.status === 'True',
    error,
  };
}

/** Returns the end of the time to live, if it deleted the contents. */
function expiryIn({ activation, ttl }: EnvironmentStatus): SummaryInput['expired'] {
  return activation?.reason === 'Expired' && ttl ? { at: activation.since, seconds: ttl.seconds } : undefined;
}

/** How long a start of services after a sleep is not a failure, in milliseconds. */
const wakingMs = 5 * 60_000;

function isWaking({ status: { sleep }, before, now }: EnvironmentScope): boolean {
  if (!sleep || sleep.asleep || now.getTime() - Date.parse(sleep.since) > wakingMs) return false;
  return ['Asleep', 'Waking'].includes(findCondition(before.conditions, 'Ready')?.reason ?? '');
}

/** Returns the status to write. `summary`: the conditions that summarize what the phases contributed. */
export function finalStatus(scope: EnvironmentScope, summary: readonly ConditionReport[] = []): EnvironmentStatus {
  const { environment, status, contributed, fromFork, now } = scope;
  const observedGeneration = environment.metadata.generation ?? 0;
  const reported: [string, ConditionChange][] = Object.entries(contributed.conditions);
  const dropped = new Set(reported.flatMap(([type, report]) => (report ? [] : [type])));
  const kept = (environment.status?.conditions ?? []).filter(({ type }) => !dropped.has(type));
  const reports = [...reported.flatMap(([type, report]) => (report ? [{ ...report, type }] : [])), ...summary];
  const short = reports.map((report) => ({ ...report, message: cut(report.message, maxMessage) }));
  const conditions = mergeConditions(kept, short, observedGeneration, now);
  return { ...status, state: stateOf(scope), fromFork, observedGeneration, conditions };
}

function stateOf({ isPresent, isSetUp, runningBuild, status }: EnvironmentScope): EnvironmentState {
  const building = runningBuild !== undefined;
  return deriveState({ present: isPresent, setUp: isSetUp, building, deployed: status.deployed !== undefined });
}
