import type { RepositoryType } from './repository-source.ts';

/**
 * Returns the name of the Secret in the group's namespace whose key WEBHOOK_SECRET_KEY signs a Repository's deliveries.
 */
export function webhookSecretName(repository: string): string {
  return `webhook-${repository}`;
}

export const WEBHOOK_SECRET_KEY = 'secret';

/** Returns the path, below the API's address, to which a Git host delivers events of a repository. */
export function webhookPath(type: RepositoryType, repositoryId: string): string {
  return `/api/webhooks/${type}/${repositoryId}`;
}
