import type { ConditionReport } from '../../../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';
import type { Revision } from '../revision/revision.ts';

/** Conditions of an Environment, as shown by `kubectl describe` and the API. */
export type EnvironmentCondition =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'Created'
  | 'Built'
  | 'Available'
  | 'Trusted'
  | 'Approved'
  | 'Overridden'
  | 'Seeded'
  | 'Published'
  | 'Asleep'
  | 'RequestsValid';

export type StatusField = keyof EnvironmentStatus;

/** What one reconcile has observed and the status does not record. */
export interface Observed {
  /** Whether the environment's namespace exists. */
  isPresent?: boolean;
  /** Whether the ref's newest commit must not be read, because nobody has approved it. */
  awaitsApproval?: boolean;
  /** The revision that this reconcile has planned. */
  planned?: Revision;
  /** Progress of the rollout; absent if nothing should run. */
  progress?: RolloutProgress;
  /** When to stop waiting for the services. */
  givesUpAt?: Date;
  /** The services to stop while their volumes are published. */
  stopped?: ReadonlySet<string>;
}

/** A condition to report; undefined removes one that does not apply any longer. */
export type ConditionChange = Omit<ConditionReport, 'type'> | undefined;

/**
 * What a part of a reconcile adds to the scope. The type parameters name the status fields and the conditions that it
 * can change.
 */
export interface Contribution<
  Field extends StatusField = StatusField,
  Type extends EnvironmentCondition = EnvironmentCondition,
> {
  /** Fields of the status; undefined clears a field. */
  status?: { readonly [F in Field]?: EnvironmentStatus[F] };
  conditions?: { readonly [T in Type]?: ConditionChange };
  observed?: Observed;
}

/** Returns both contributions as one; where they differ, the later one counts. */
export function combine<F extends StatusField, T extends EnvironmentCondition>(
  earlier: Contribution<F, T>,
  later: Contribution<F, T>,
): Contribution<F, T> {
  return {
    status: { ...earlier.status, ...later.status },
    conditions: { ...earlier.conditions, ...later.conditions },
    observed: { ...earlier.observed, ...later.observed },
  };
}
