import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { formatId, groupNamespace, groupOfNamespace } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { repositoryIndexValue } from '../cluster/caches.ts';
import { listedEnvironmentSchema } from '../environments/listed-environment.ts';
import { listedGroupSchema } from '../groups/listed-group.ts';
import { listedRepositorySchema } from '../repositories/listed-repository.ts';
import type { ChangeKind } from './position.ts';

const changeOf = <Kind extends ChangeKind, Item extends z.ZodType>(kind: Kind, item: Item) =>
  z.object({ kind: z.literal(kind), id: z.string(), change: z.literal('updated'), item });

/** The data of an event `change`. */
export const changeSchema = z
  .union([
    changeOf('environment', listedEnvironmentSchema),
    changeOf('repository', listedRepositorySchema),
    changeOf('group', listedGroupSchema),
    z.object({ kind: z.enum(['group', 'repository', 'environment']), id: z.string(), change: z.literal('deleted') }),
  ])
  .meta({
    id: 'Change',
    description:
      '`updated`: created or changed, with the object as lists show it; `deleted`: gone, or no longer visible to the caller.',
  });
export type Change = z.infer<typeof changeSchema>;

/** An object that changed, and the channels of those who can see it. */
export interface ChangedObject {
  kind: ChangeKind;
  /** Its key in the cache. */
  key: string;
  id: string;
  /** The group's channel, which has everything in the group. */
  group: string;
  /** The channel of the repository that it is or belongs to; absent for a group. */
  repository?: string;
}

/** Returns the channel of a group: its namespace. */
export function groupChannel(group: string): string {
  return groupNamespace(group);
}

/** Returns the channel of a repository, for tokens that are restricted to it. */
export function repositoryChannel(group: string, name: string): string {
  return repositoryIndexValue(groupNamespace(group), name);
}

export function changedGroup(group: Group): ChangedObject {
  const { name } = group.metadata;
  return { kind: 'group', key: name, id: name, group: groupChannel(name) };
}

/** Returns undefined for an object outside of groups' namespaces, which nobody can see. */
export function changedRepository(repository: Repository): ChangedObject | undefined {
  return inGroup('repository', repository, repository.metadata.name);
}

/** Returns undefined for an object outside of groups' namespaces, which nobody can see. */
export function changedEnvironment(environment: Environment): ChangedObject | undefined {
  return inGroup('environment', environment, environment.spec.repository);
}

function inGroup(kind: ChangeKind, object: Repository | Environment, repository: string): ChangedObject | undefined {
  const { namespace = '', name } = object.metadata;
  const group = groupOfNamespace(namespace);
  if (group === undefined) return undefined;
  return {
    ...{ kind, key: keyOf(object), id: formatId({ group, name }) },
    ...{ group: groupChannel(group), repository: repositoryChannel(group, repository) },
  };
}
