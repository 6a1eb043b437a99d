import type { Repository } from './repository.ts';
import type { RepositoryType } from './repository-source.ts';

/**
 * The server that a Repository is at, by scheme, name and port: whom its credentials are told. The instance of a host
 * that a spec need not name is told by the type.
 */
export function repositoryServer(spec: Pick<Repository['spec'], 'type' | RepositoryType>): string {
  const { type, generic, ownerhost, groupedhost, cloudorg } = spec;
  const url = generic?.origin ?? ownerhost?.instanceUrl ?? groupedhost?.instanceUrl ?? cloudorg?.orgUrl;
  if (url === undefined) return `the configured ${type}`;
  return /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).origin : url;
}
