import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { groupNamespace, isResourceName, parseId } from '../../crds/ids.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { repositoryIndexValue, type Caches } from '../cluster/caches.ts';
import { NotFound } from '../http/errors.ts';
import { hasAccepted } from '../users/group-invitation.ts';
import type { User } from '../users/user-record.ts';

/**
 * Members see a group once their address is proven, to all groups or by an invitation to this one: to register
 * somebody else's address opens nothing.
 */
export function maySee(user: User, group: Group): boolean {
  if (!group.spec.members.includes(user.email)) return false;
  if (user.verified || group.metadata.annotations?.[ANNOTATIONS.createdBy] === user.accountId) return true;
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

/** What a user may see. What they may not is answered as what does not exist, by the same lines. */
export class Directory {
  readonly #caches: Caches;

  constructor(caches: Caches) {
    this.#caches = caches;
  }

  groups(user: User): Group[] {
    return this.#caches.groups.byIndex('member', user.email).filter((group) => maySee(user, group));
  }

  /** The groups that an account made, those too that it sees no longer: to be counted, not shown. */
  madeBy({ accountId }: Pick<User, 'accountId'>): Group[] {
    return this.#caches.groups.byIndex('creator', accountId);
  }

  /** @throws NotFound */
  group(user: User, id: string): Group {
    const group = this.#find(user, id);
    if (!group) throw new NotFound('no such group');
    return group;
  }

  /** @throws NotFound */
  repository(user: User, id: string): RepositoryTarget {
    const at = this.#locate(user, id);
    const repository = at && this.#caches.repositories.get(at.key);
    if (!at || !repository) throw new NotFound('no such repository');
    return { group: at.group, repository };
  }

  /** @throws NotFound */
  environment(user: User, id: string): EnvironmentTarget {
    const at = this.#locate(user, id);
    const environment = at && this.#caches.environments.get(at.key);
    if (!at || !environment) throw new NotFound('no such environment');
    return { group: at.group, environment };
  }

  repositories(group: Group): Repository[] {
    return this.#caches.repositories.byIndex('namespace', groupNamespace(group.metadata.name));
  }

  environments(repository: Repository): Environment[] {
    const { namespace = '', name } = repository.metadata;
    return this.#caches.environments.byIndex('repository', repositoryIndexValue(namespace, name));
  }

  /** Those that can be used, in the order of their labels. */
  reusables({ metadata: { namespace = '', name } }: Repository): ReusableEnvironment[] {
    return this.#caches.reusables
      .byIndex('repository', repositoryIndexValue(namespace, name))
      .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.builtAt !== undefined)
      .sort((a, b) => (a.spec.label < b.spec.label ? -1 : 1));
  }

  /** @throws NotFound */
  reusable(user: User, id: string, label: string): RepositoryTarget & { reusable: ReusableEnvironment } {
    const target = this.repository(user, id);
    const reusable = this.reusables(target.repository).find(({ spec }) => spec.label === label);
    if (!reusable) throw new NotFound('no such reusable environment');
    return { ...target, reusable };
  }

  #locate(user: User, id: string): { group: Group; key: string } | undefined {
    const parts = parseId(id);
    const group = parts && this.#find(user, parts.group);
    return group && { group, key: objectKey(groupNamespace(parts.group), parts.name) };
  }

  #find(user: User, name: string): Group | undefined {
    const group = isResourceName(name) ? this.#caches.groups.get(name) : undefined;
    return group && maySee(user, group) ? group : undefined;
  }
}
