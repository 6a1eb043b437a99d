import { ENVIRONMENT } from '../../crds/environment.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

interface WithVariables {
  variables?: VariableSpec[] | undefined;
}

/** A Group or a Repository with its variables, or an Environment with those that override them. */
export type VariableOwner = KubernetesObject & { spec: WithVariables & { overrides?: WithVariables | undefined } };

/** Returns the variables of their owner: an Environment has only overrides, all others have none. */
export function variablesOf({ spec }: VariableOwner): readonly VariableSpec[] {
  return spec.overrides?.variables ?? spec.variables ?? [];
}

/** Returns the merge patch of the spec that replaces the variables. */
export function variablesPatch(kind: string, variables: readonly VariableSpec[]): Record<string, unknown> {
  return kind === ENVIRONMENT.kind ? { overrides: { variables } } : { variables };
}
