import { userMustAct } from '../../../shared/errors.ts';
import type { PlannedRevision } from '../revision/revision-planner.ts';
import type { EnvironmentScope } from './scope.ts';

/** What a phase returns to the reconcile that runs it. */
export interface PhaseResult {
  /** Whether the following phases are skipped. */
  done?: boolean;
  /** When to reconcile again if nothing changes, in milliseconds. */
  requeueAfterMs?: number | undefined;
  /** The revision that this reconcile has planned. */
  planned?: PlannedRevision;
}

/**
 * One phase of an Environment's reconcile. `earlier`: the combined results of the phases before it. An error ends the
 * reconcile: Stalled until the user acts, Waiting for a time, any other with a backoff.
 */
export type Phase = (scope: EnvironmentScope, earlier: PhaseResult) => PhaseResult | Promise<PhaseResult>;

/** Runs phases in order until one is done or throws; `failure` is the error. */
export async function runPhases(
  phases: readonly Phase[],
  scope: EnvironmentScope,
): Promise<PhaseResult & { failure?: unknown }> {
  let result: PhaseResult = {};
  try {
    for (const phase of phases) {
      result = combined(result, await phase(scope, result));
      if (result.done === true) break;
    }
    return result;
  } catch (error) {
    return { ...result, failure: userMustAct(error) };
  }
}

/** Returns the shortest of these times; undefined if there is none. */
export function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function combined(earlier: PhaseResult, result: PhaseResult): PhaseResult {
  return { ...earlier, ...result, requeueAfterMs: soonest(earlier.requeueAfterMs, result.requeueAfterMs) };
}
