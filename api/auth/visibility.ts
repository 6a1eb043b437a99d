import type { Environment } from '../../crds/environment.ts';
import { creatorOf, type Group } from '../../crds/group.ts';
import { formatId, groupNamespace, groupOfNamespace, isResourceName, parseId } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { repositoryIndexValue, type Caches } from '../cluster/caches.ts';
import { allDeletedWith, deletedWith } from '../cluster/deletion.ts';
import { NotFound } from '../shared/errors.ts';
import { NO_SUCH_ENVIRONMENT } from '../shared/messages.ts';
import { hasAccepted } from '../user-records/group-invitation.ts';
import type { User } from '../user-records/user-record.ts';
import { reachesGroup, reachesRepository } from './access.ts';
import type { Viewer } from './caller.ts';

/**
 * Members see a group once their address is verified, for all groups or by an invitation to this one: registering with
 * another person's address grants no access.
 */
export function canSee(user: User, group: Group): boolean {
  if (!group.spec.members.includes(user.email)) return false;
  if (user.verified || creatorOf(group) === user.accountId) return true;
  return hasAccepted(group, user);
}

export interface RepositoryTarget {
  group: Group;
  repository: Repository;
}

export interface EnvironmentTarget {
  group: Group;
  environment: Environment;
}

function reaches({ reach }: Viewer, { metadata: { name: group } }: Group, repository: string): boolean {
  return reachesRepository(reach, group, formatId({ group, name: repository }));
}

/**
 * Finds what a caller can see, by their memberships and their token's restrictions. What they cannot see is answered
 * exactly like what does not exist.
 */
export class Directory {
  readonly #caches: Caches;

  constructor(caches: Caches) {
    this.#caches = caches;
  }

  groups(viewer: Viewer): Group[] {
    const { user, reach } = viewer;
    const groups = this.#caches.groups.byIndex('member', user.email).filter((group) => canSee(user, group));
    return groups.filter(({ metadata }) => reachesGroup(reach, metadata.name));
  }

  /** Returns the groups that an account created, including those that it no longer sees: for counting only. */
  madeBy({ accountId }: Pick<User, 'accountId'>): Group[] {
    return this.#caches.groups.byIndex('creator', accountId);
  }

  /** Returns a group even if the caller cannot see it: for counting only. */
  groupNamed(name: string): Group | undefined {
    return this.#caches.groups.get(name);
  }

  /** Returns the account that created the group of a namespace; undefined if none did: for counting only. */
  creatorOfNamespace(namespace: string): string | undefined {
    return creatorOf(this.groupNamed(groupOfNamespace(namespace) ?? ''));
  }

  /** Finds a group that the caller can see. @throws NotFound */
  group(viewer: Viewer, id: string): Group {
    const group = this.#find(viewer.user, id);
    if (!group || !reachesGroup(viewer.reach, group.metadata.name))
      throw new NotFound('there is no such group, or you cannot see it. GET /api/groups lists yours');
    return group;
  }

  /** Finds a repository that the caller can see. @throws NotFound */
  repository(viewer: Viewer, id: string): RepositoryTarget {
    const at = this.#locate(viewer.user, id);
    const repository = at && this.#caches.repositories.get(at.key);
    if (!at || !repository || !reaches(viewer, at.group, repository.metadata.name))
      throw new NotFound(
        'there is no such repository, or you cannot see it. GET /api/group/{groupID} lists those of a group',
      );
    return { group: at.group, repository: deletedWith(at.group, repository) };
  }

  /** Finds an environment that the caller can see. @throws NotFound */
  environment(viewer: Viewer, id: string): EnvironmentTarget {
    const at = this.#locate(viewer.user, id);
    const environment = at && this.#caches.environments.get(at.key);
    if (!at || !environment || !reaches(viewer, at.group, environment.spec.repository))
      throw new NotFound(NO_SUCH_ENVIRONMENT);
    const { namespace } = environment.metadata;
    const repository = this.#caches.repositories.get(objectKey(namespace, environment.spec.repository));
    const owner = repository && deletedWith(at.group, repository);
    return { group: at.group, environment: deletedWith(owner ?? at.group, environment) };
  }

  /** Returns whether the caller sees an object of this ID. */
  sees(viewer: Viewer, kind: 'groups' | 'repositories', id: string): boolean {
    try {
      if (kind === 'groups') this.group(viewer, id);
      else this.repository(viewer, id);
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  /** Returns whether the caller still sees what they saw as this object, including one that has since been deleted. */
  staysVisible(viewer: Viewer, { group: { metadata }, environment }: EnvironmentTarget): boolean {
    const group = this.#find(viewer.user, metadata.name);
    return group !== undefined && reaches(viewer, group, environment.spec.repository);
  }

  /** Returns all repositories that the caller can see. */
  repositoryTargets(viewer: Viewer): RepositoryTarget[] {
    const { user } = viewer;
    const groups = this.#caches.groups.byIndex('member', user.email).filter((group) => canSee(user, group));
    return groups.flatMap((group) =>
      this.repositories(group)
        .filter(({ metadata }) => reaches(viewer, group, metadata.name))
        .map((repository) => ({ group, repository })),
    );
  }

  repositories(group: Group): Repository[] {
    const repositories = this.#caches.repositories.byIndex('namespace', groupNamespace(group.metadata.name));
    return allDeletedWith(group, repositories);
  }

  /** Returns the repository of an environment that was found; undefined if there is none. */
  repositoryOf({ metadata: { namespace }, spec }: Environment): Repository | undefined {
    return this.#caches.repositories.get(objectKey(namespace, spec.repository));
  }

  environments(repository: Repository): Environment[] {
    const { namespace = '', name } = repository.metadata;
    const environments = this.#caches.environments.byIndex('repository', repositoryIndexValue(namespace, name));
    return allDeletedWith(repository, environments);
  }

  /** Returns the environments of all repositories of a group, including missing Repositories. */
  environmentsIn(group: Group): Environment[] {
    return this.#caches.environments.byIndex('namespace', groupNamespace(group.metadata.name));
  }

  /** Returns the usable reusable environments, ordered by label. */
  reusables({ metadata: { namespace = '', name } }: Repository): ReusableEnvironment[] {
    return this.#caches.reusables
      .byIndex('repository', repositoryIndexValue(namespace, name))
      .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.builtAt !== undefined)
      .sort((a, b) => (a.spec.label < b.spec.label ? -1 : 1));
  }

  /** Finds a reusable environment that the caller can see. @throws NotFound */
  reusable(viewer: Viewer, id: string, label: string): RepositoryTarget & { reusable: ReusableEnvironment } {
    const target = this.repository(viewer, id);
    const reusable = this.reusables(target.repository).find(({ spec }) => spec.label === label);
    if (!reusable)
      throw new NotFound('the repository has no such reusable environment. GET /api/repository/{repoID} lists them');
    return { ...target, reusable };
  }

  #locate(user: User, id: string): { group: Group; key: string } | undefined {
    const parts = parseId(id);
    const group = parts && this.#find(user, parts.group);
    return group && { group, key: objectKey(groupNamespace(parts.group), parts.name) };
  }

  #find(user: User, name: string): Group | undefined {
    const group = isResourceName(name) ? this.#caches.groups.get(name) : undefined;
    return group && canSee(user, group) ? group : undefined;
  }
}
