import { gitRefKey, type GitRef } from './git-ref.ts';
import { hashedName, slug } from './names.ts';

const environmentNameLimit = 50;

/**
 * Returns a stable resource name for an environment of this ref, unique to the ref. A hash is added if the ref's name
 * had to be changed.
 */
export function environmentName(repository: string, ref: GitRef): string {
  const readable = ref.type === 'branch' ? ref.name : `${ref.type === 'tag' ? 'tag' : 'pr'}-${ref.name}`;
  const plain = `${repository}-${readable}`;
  const exact = slug(plain) === plain && plain.length <= environmentNameLimit && ref.type === 'branch';
  if (exact) return plain;
  return hashedName(slug(plain), gitRefKey(ref), environmentNameLimit);
}

/** Returns the name for an environment of this ref if environmentName() is taken by another repository or ref. */
export function environmentNameBeside(repository: string, ref: GitRef): string {
  return hashedName(slug(environmentName(repository, ref)), `${repository}/${gitRefKey(ref)}`, environmentNameLimit);
}
