import type { Logger } from 'pino';
import type { Environment } from '../../../crds/environment.ts';
import { ANNOTATIONS } from '../../../crds/labels.ts';
import type { Repository } from '../../../crds/repository.ts';
import { newestRequestId } from '../../../crds/requests.ts';
import { keyOf } from '../../../kubernetes/resource-type.ts';

/** The removal of an Environment or its contents that nobody requested directly. */
export interface Removal {
  environment: Environment;
  /** `contents`: only the contents, because the object belongs to somebody else. */
  what: 'object' | 'contents';
  repository: Repository;
  reason: 'RefGone' | 'RepositoryDeleted';
  /** Whether a user or a webhook requested the sync that led to the removal, rather than the polling interval. */
  wasRequested: boolean;
}

/**
 * Returns a function that logs a line marked `audit: true` for each removal, as the API does for each change. If the
 * sync was requested, the line names who requested it (an account or a webhook) and the request's ID, by which the API's
 * own line of the request is found.
 */
export function auditRemovals(logger: Pick<Logger, 'child'>): (removal: Removal) => void {
  // Logged at every log level.
  const log = logger.child({}, { level: 'info' });
  return ({ environment, what, repository, reason, wasRequested }) => {
    const { annotations } = repository.metadata;
    const request = wasRequested && {
      requestId: newestRequestId(annotations),
      requestedBy: annotations?.[ANNOTATIONS.syncRequestedBy],
    };
    const change = { verb: what === 'object' ? 'delete' : 'patch', kind: 'Environment', key: keyOf(environment) };
    const line = {
      audit: true,
      actor: 'operator',
      reason,
      repository: keyOf(repository),
      ...request,
      changes: [change],
    };
    log.info(line, 'audit');
  };
}
