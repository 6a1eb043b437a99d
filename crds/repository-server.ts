import type { Repository } from './repository.ts';
import type { RepositoryType } from './repository-source.ts';

/**
 * Returns the server of a Repository, to which alone its credentials are sent: scheme, name and port, or the type for a
 * host's default instance.
 */
export function repositoryServer(spec: Pick<Repository['spec'], 'type' | RepositoryType>): string {
  const { type, generic, ownerhost, groupedhost, cloudorg } = spec;
  const url = generic?.origin ?? ownerhost?.instanceUrl ?? groupedhost?.instanceUrl ?? cloudorg?.orgUrl;
  if (url === undefined) return `the configured ${type}`;
  return /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).origin : url;
}
