import type { Logger } from 'pino';
import type { Environment } from '../../../crds/environment.ts';
import { ANNOTATIONS } from '../../../crds/labels.ts';
import type { Repository } from '../../../crds/repository.ts';
import { newestRequestId } from '../../../crds/requests.ts';
import { keyOf } from '../../../kubernetes/resource-type.ts';

/** An Environment that goes although nobody asked for that very one. */
export interface Removal {
  environment: Environment;
  /** `contents`: the object is somebody else's, and stays. */
  what: 'object' | 'contents';
  repository: Repository;
  reason: 'RefGone' | 'RepositoryDeleted';
  /** Whether a sync was asked for, and this is what came of it; otherwise it was time for one. */
  wasRequested: boolean;
}

/**
 * Writes a line marked `audit: true` for each removal, as the API does for what it changes: with the id of the request that
 * made the operator look, which the API's line has too, and who made it: an account, or a webhook.
 */
export function auditRemovals(logger: Pick<Logger, 'child'>): (removal: Removal) => void {
  // Whatever the level of the others.
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
