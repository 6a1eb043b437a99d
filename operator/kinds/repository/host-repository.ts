import type { Repository } from '../../../crds/repository.ts';
import { SourceRefusedError } from '../../source/errors.ts';
import type { GitHost } from '../../source/hosts/host.ts';

type HostRepository = NonNullable<NonNullable<Repository['status']>['hostRepository']>;

/**
 * Returns the ID of the repository at the host; undefined if the host has none. Throws SourceRefusedError if it differs
 * from the repository that was first found at this origin: variables and credentials were not meant for a repository
 * that took over the name. Throws what GitHost.repositoryId throws.
 */
export async function sameHostRepository(
  status: Repository['status'],
  host: Pick<GitHost, 'access' | 'repositoryId'>,
): Promise<HostRepository | undefined> {
  const id = await host.repositoryId();
  if (id === undefined) return undefined;
  const { origin } = host.access;
  const first = status?.hostRepository;
  if (first?.origin === origin && first.id !== id) {
    throw new SourceRefusedError(
      'RepositoryReplaced',
      `${origin} is a different repository than before (id ${id}, before ${first.id}): the previous one was deleted, renamed ` +
        'or moved, and another one was created under its name. If you trust this one too, delete this Repository and create a new one',
    );
  }
  return { origin, id };
}

/**
 * Throws what sameHostRepository throws if an ID is known for this origin, so that the code of a repository that took
 * over the name is never planned with variables; the host is not asked otherwise.
 */
export async function confirmHostRepository(
  status: Repository['status'],
  host: Pick<GitHost, 'access' | 'repositoryId'>,
): Promise<void> {
  if (status?.hostRepository?.origin === host.access.origin) await sameHostRepository(status, host);
}
