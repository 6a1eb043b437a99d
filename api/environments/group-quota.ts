import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Directory } from '../auth/visibility.ts';
import { Conflict } from '../shared/errors.ts';
import { hasOrWantsContents } from './contents.ts';

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
      .filter(hasOrWantsContents).length;
    if (there < max) return;
    throw new Conflict(
      `the group has ${there} active environments, and its limit is ${max}. Delete the contents of another environment, ` +
        'or ask an administrator to raise the limit',
    );
  };
}
