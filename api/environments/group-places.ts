import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Directory } from '../auth/directory.ts';
import { Conflict } from '../http/errors.ts';
import { hasOrWantsContents } from './contents.ts';

/**
 * Refuses new contents of an environment where the group has as many as it may. That tells early what the operator would
 * find: it counts again, and it alone gives places. @throws Conflict
 */
export type RequirePlace = (group: Group, environment?: Environment) => void;

export function requirePlaceBy(
  directory: Pick<Directory, 'repositories' | 'environments'>,
  mostPerGroup: number,
): RequirePlace {
  return (group, environment) => {
    if (environment && hasOrWantsContents(environment)) return;
    const most = group.spec.mostEnvironments ?? mostPerGroup;
    const there = directory
      .repositories(group)
      .flatMap((repository) => directory.environments(repository))
      .filter(hasOrWantsContents).length;
    if (there < most) return;
    throw new Conflict(
      `the group has contents in ${there} environments, and ${most} is the most: delete those of another one, ` +
        'or ask an administrator for more',
    );
  };
}
