import { fullRefName, type GitRef } from '../../crds/git-ref.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import type { RefPlace } from '../source/source.ts';

export interface LocatedRef {
  place: RefPlace;
  /** Of a pull request: whether its commits come from another repository. */
  isFork?: boolean | undefined;
}

/** Where a ref's commits are; the Git host is asked only for a pull request. */
export async function locateRef(
  { host }: Pick<RepositoryConfiguration, 'host'>,
  { name, type }: GitRef,
): Promise<LocatedRef> {
  if (type === 'pull request') return host.pullRequest(Number(name));
  return { place: { access: host.access, refName: fullRefName({ name, type }) } };
}
