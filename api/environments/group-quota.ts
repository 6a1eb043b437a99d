import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Directory } from '../auth/visibility.ts';
import { Conflict } from '../shared/errors.ts';
import { hasOrWantsContents, stateOf } from './contents.ts';

/**
 * Refuses new contents if the group has reached its limit. The operator counts again and decides; this only reports it
 * early. @throws Conflict
 */
export type RequireQuota = (group: Group, environment?: Environment) => void;

export function requireQuotaBy(
  directory: Pick<Directory, 'repositories' | 'environments'>,
  maxPerGroup: number,
): RequireQuota {
  return (group, environment) => {
    if (environment && hasOrWantsContents(environment)) return;
    const max = group.spec.maxActiveEnvironments ?? maxPerGroup;
    const there = directory
      .repositories(group)
      .flatMap((repository) => directory.environments(repository))
      .filter((one) => hasOrWantsContents(one) && !isHeldForApproval(one)).length;
    if (there < max) return;
    throw new Conflict(
      `the group has ${there} active environments, and its limit is ${max}. Delete the contents of another environment, ` +
        'or ask an administrator to raise the limit',
    );
  };
}

/** An environment that waits for the approval of its first commit has nothing and takes no slot. */
function isHeldForApproval(environment: Environment): boolean {
  return stateOf(environment) === 'empty' && environment.status?.approval?.waitingCommit !== undefined;
}
