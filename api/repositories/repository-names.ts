import type { Repository } from '../../crds/repository.ts';
import { Conflict } from '../http/errors.ts';

/** Returns the name for people. */
export function repositoryDisplayName({ metadata, spec }: Repository): string {
  return spec.displayName ?? metadata.name;
}

/**
 * Refuses a name that another repository of the group shows, however it is written: nobody could tell the two apart.
 * One that is being deleted does not count. @throws Conflict
 */
export function requireFreeName(name: string, others: readonly Repository[]): void {
  const wanted = comparable(name);
  const isTaken = others.some(
    (other) => other.metadata.deletionTimestamp === undefined && comparable(repositoryDisplayName(other)) === wanted,
  );
  if (isTaken) throw new Conflict('the group has a repository of this name already: choose another one');
}

function comparable(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
