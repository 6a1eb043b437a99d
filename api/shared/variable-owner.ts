import type { VariableSpec } from '../../crds/variable.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';

/** A Group or a Repository. */
export type VariableOwner = KubernetesObject & { spec: { variables?: VariableSpec[] | undefined } };
