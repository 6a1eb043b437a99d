import type { Condition } from '../../crds/conditions.ts';

/** A condition as clients see it: what is, and in words why. */
export interface ConditionView {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export function conditionViews(conditions: readonly Condition[] | undefined): ConditionView[] {
  return (conditions ?? []).map(({ type, status, reason, message }) => ({ type, status, reason, message }));
}
