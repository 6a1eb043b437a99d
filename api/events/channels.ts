import type { Group } from '../../crds/group.ts';
import { parseId } from '../../crds/ids.ts';
import { reachesGroup } from '../auth/access.ts';
import type { Viewer } from '../auth/caller.ts';
import { canSee } from '../auth/visibility.ts';
import type { Caches } from '../cluster/caches.ts';
import { groupChannel, repositoryChannel } from './change.ts';

/**
 * Returns the channels of a group that a viewer can read: the group's, or those of the repositories that their token is
 * restricted to; none if they cannot see the group.
 */
export function channelsIn(group: Group, { user, reach }: Viewer): string[] {
  const { name } = group.metadata;
  if (!canSee(user, group)) return [];
  if (reachesGroup(reach, name)) return [groupChannel(name)];
  const ids = (reach?.repositories ?? []).flatMap((id) => parseId(id) ?? []);
  return ids.filter((id) => id.group === name).map((id) => repositoryChannel(name, id.name));
}

/** Returns the channels of all groups that a viewer can read. */
export function channelsOf(viewer: Viewer, groups: Pick<Caches['groups'], 'byIndex'>): string[] {
  return groups.byIndex('member', viewer.user.email).flatMap((group) => channelsIn(group, viewer));
}

/** Returns the addresses whose access a change of a group can change. */
export function concernedBy(group: Group, old: Group | undefined, isDeleted: boolean): string[] {
  if (isDeleted || !old) return group.spec.members;
  const annotations = [group, old].map(({ metadata }) => JSON.stringify(metadata.annotations ?? {}));
  const [now, before] = [new Set(group.spec.members), new Set(old.spec.members)];
  const either = [...new Set([...now, ...before])];
  // Annotations hold who accepted an invitation.
  if (annotations[0] !== annotations[1]) return either;
  return either.filter((email) => now.has(email) !== before.has(email));
}
