import { findCondition, type Condition } from '../../../crds/conditions.ts';
import { REQUESTS_VALID } from '../../shared/conditions.ts';
import type { EventNote } from '../../../kubernetes/event-recorder.ts';

interface Status {
  conditions?: Condition[] | undefined;
}

/**
 * Returns events for new failures: for a stalled object also when only the message changes; for a wait only when it
 * starts, because its message changes often.
 */
export function failureEvents(before: Status, after: Status, waits: ReadonlySet<string>): EventNote[] {
  const was = diagnosisOf(before, waits);
  const is = diagnosisOf(after, waits);
  if (!is || (was?.reason === is.reason && (!is.stalled || was.message === is.message))) return [];
  return [{ type: 'Warning', reason: is.reason, note: is.message }];
}

function diagnosisOf({ conditions }: Status, waits: ReadonlySet<string>) {
  const stalled = findCondition(conditions, 'Stalled');
  if (stalled?.status === 'True') return { ...pick(stalled), stalled: true };
  const reconciling = findCondition(conditions, 'Reconciling');
  if (reconciling?.status === 'True' && waits.has(reconciling.reason)) return { ...pick(reconciling), stalled: false };
  return undefined;
}

function pick({ reason, message }: Condition) {
  return { reason, message };
}

/** Returns an event for a new request that cannot be handled. */
export function requestEvents(before: Status, after: Status): EventNote[] {
  const is = findCondition(after.conditions, REQUESTS_VALID);
  if (is?.status !== 'False' || findCondition(before.conditions, REQUESTS_VALID)?.message === is.message) return [];
  return [{ type: 'Warning', reason: is.reason, note: is.message }];
}
