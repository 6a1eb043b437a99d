import { userMustAct } from '../../../shared/errors.ts';
import { combine, type Contribution, type EnvironmentCondition, type StatusField } from './contribution.ts';
import type { EnvironmentScope } from './scope.ts';

/** What a phase returns: what it contributes to the status, and how the reconcile continues. */
export interface PhaseResult<
  Field extends StatusField = StatusField,
  Type extends EnvironmentCondition = EnvironmentCondition,
> extends Contribution<Field, Type> {
  /** Whether the following phases are skipped. */
  done?: boolean | undefined;
  /** Whether the status is written before the next phase acts on it. */
  write?: boolean | undefined;
  /** When to reconcile again if nothing changes, in milliseconds. */
  requeueAfterMs?: number | undefined;
  /** The error that ends the reconcile, as if it were thrown, after what the phase contributed. */
  failure?: unknown;
}

/**
 * One phase of an Environment's reconcile. It acts on the cluster but does not change the scope. An error ends the
 * reconcile: Stalled until the user acts, Waiting for a time, any other with a backoff.
 */
export type Phase<Field extends StatusField = StatusField, Type extends EnvironmentCondition = EnvironmentCondition> = (
  scope: EnvironmentScope,
) => PhaseResult<Field, Type> | Promise<PhaseResult<Field, Type>>;

/**
 * Runs phases in order until one is done or fails; each gets the scope with everything contributed before it. Returns
 * their combined results. Never throws.
 */
export async function runPhases<F extends StatusField, T extends EnvironmentCondition>(
  phases: readonly Phase<F, T>[],
  scope: EnvironmentScope,
  write: (scope: EnvironmentScope) => Promise<void> = () => Promise.resolve(),
): Promise<PhaseResult<F, T>> {
  let result: PhaseResult<F, T> = {};
  try {
    for (const phase of phases) {
      const current = scope.with(result);
      const added = await phase(current);
      result = combineResults(result, added);
      if (added.failure !== undefined) return { ...result, failure: userMustAct(added.failure) };
      if (added.write === true) await write(scope.with(result));
      if (added.done === true) break;
    }
    return result;
  } catch (error) {
    return { ...result, failure: userMustAct(error) };
  }
}

/** Runs further phases after a result, which is kept if they fail. */
export function andThen<F extends StatusField, T extends EnvironmentCondition>(
  scope: EnvironmentScope,
  first: PhaseResult<F, T>,
  ...phases: readonly Phase<F, T>[]
): Promise<PhaseResult<F, T>> {
  return runPhases([() => first, ...phases], scope);
}

export function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function combineResults<F extends StatusField, T extends EnvironmentCondition>(
  earlier: PhaseResult<F, T>,
  later: PhaseResult<F, T>,
): PhaseResult<F, T> {
  return {
    ...combine(earlier, later),
    done: later.done,
    write: later.write ?? earlier.write,
    requeueAfterMs: soonest(earlier.requeueAfterMs, later.requeueAfterMs),
  };
}
