import type { Environment } from '../../crds/environment.ts';
import { gitRefKey } from '../../crds/git-ref.ts';

/** Whether the environment is the first of those that hold its ref; the others are clones of it. */
export function isOldestOfItsRef(environment: Environment, others: readonly Environment[]): boolean {
  return others.every((other) => !holdsSameRef(environment, other) || age(environment) <= age(other));
}

/** Whether another object, which is not on its way out, holds the same ref of the same repository. */
export function holdsSameRef({ metadata, spec }: Environment, other: Environment): boolean {
  return (
    other.metadata.uid !== metadata.uid &&
    other.metadata.deletionTimestamp === undefined &&
    other.metadata.namespace === metadata.namespace &&
    other.spec.repository === spec.repository &&
    gitRefKey(other.spec.gitRef) === gitRefKey(spec.gitRef)
  );
}

/** Of two of the same second the names decide. */
function age({ metadata: { creationTimestamp = '', name } }: Environment): string {
  return `${creationTimestamp} ${name}`;
}
