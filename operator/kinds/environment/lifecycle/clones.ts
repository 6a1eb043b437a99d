import type { Environment } from '../../../../crds/environment.ts';
import { gitRefKey } from '../../../../crds/git-ref.ts';

/** Returns whether the environment is the oldest of those with its ref; the others are its clones. */
export function isOldestOfItsRef(environment: Environment, others: readonly Environment[]): boolean {
  return others.every((other) => !holdsSameRef(environment, other) || age(environment) <= age(other));
}

/** Returns whether another object that is not being deleted has the same ref of the same repository. */
export function holdsSameRef({ metadata, spec }: Environment, other: Environment): boolean {
  return (
    other.metadata.uid !== metadata.uid &&
    other.metadata.deletionTimestamp === undefined &&
    other.metadata.namespace === metadata.namespace &&
    other.spec.repository === spec.repository &&
    gitRefKey(other.spec.gitRef) === gitRefKey(spec.gitRef)
  );
}

/** Names decide between two created in the same second. */
function age({ metadata: { creationTimestamp = '', name } }: Environment): string {
  return `${creationTimestamp} ${name}`;
}
