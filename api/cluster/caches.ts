import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { environmentLabel } from '../../crds/environment-address.ts';
import { creatorOf, GROUP, type Group } from '../../crds/group.ts';
import { idOf } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import type { KubernetesObject, ObjectName, ResourceType, Secret } from '../../kubernetes/resource-type.ts';
import { USER_RECORD } from '../user-records/user-record.ts';
import { USER_INDEXES } from '../user-records/user-indexes.ts';
import type { AnyFreshCache, FreshCache } from './fresh-cache.ts';
import type { ObjectCache } from './object-cache.ts';

/** The requests that the API makes to the API server: single objects, never a workload. */
export type ClusterRequests = Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>;

/** The same, with the writes of each object serialized. */
export interface ClusterWriter extends ClusterRequests {
  /** Runs work that reads an object and writes what depends on it, exclusively within this replica. */
  exclusively<T extends KubernetesObject, R>(type: ResourceType<T>, at: ObjectName, work: () => Promise<R>): Promise<R>;
}

/** Caches for all lists and single reads; writes of this process are added by observe(). */
export interface Caches {
  groups: ObjectCache<Group>;
  repositories: ObjectCache<Repository>;
  environments: ObjectCache<Environment>;
  reusables: ObjectCache<ReusableEnvironment>;
  /** The Secrets of the users' namespace that are user records. */
  users: ObjectCache<Secret>;
}

/** Caches of what users write. */
export interface FreshCaches extends Caches {
  groups: FreshCache<Group>;
  repositories: FreshCache<Repository>;
  environments: FreshCache<Environment>;
  reusables: FreshCache<ReusableEnvironment>;
  users: FreshCache<Secret>;
}

/** Stands for the kind of user records, because other Secrets are not cached. */
const userKind = 'User';

/** Returns the kind by which freshByKind() finds the cache of a written object. */
export function cachedKind({ kind, metadata }: KubernetesObject): string {
  return kind === 'Secret' && metadata.labels?.[LABELS.record] === USER_RECORD ? userKind : kind;
}

export function freshByKind({ groups, repositories, environments, reusables, users }: FreshCaches) {
  return new Map<string, AnyFreshCache>([
    [GROUP.kind, groups],
    [REPOSITORY.kind, repositories],
    [ENVIRONMENT.kind, environments],
    [REUSABLE_ENVIRONMENT.kind, reusables],
    [userKind, users],
  ]);
}

const byMember: IndexFunction<Group> = (group) => group.spec.members;
const byCreator: IndexFunction<Group> = (group) => {
  const accountId = creatorOf(group);
  return accountId === undefined ? [] : [accountId];
};
const byNamespace: IndexFunction<Repository | Environment> = ({ metadata }) => [metadata.namespace ?? ''];
const byRepository: IndexFunction<Environment | ReusableEnvironment> = ({ metadata, spec }) => [
  repositoryIndexValue(metadata.namespace ?? '', spec.repository),
];

/** The first label of the environment's host and of its aliases' hosts, with which a request names it. */
const byHostLabel: IndexFunction<Environment> = (environment) => [
  environmentLabel(idOf(environment)),
  ...Object.values(environment.status?.aliases ?? {}).flatMap((url) => URL.parse(url)?.hostname.split('.')[0] ?? []),
];

/** Indexes of the informers, so that a request does not iterate over 10,000 environments. */
export const INDEXES = {
  groups: { member: byMember, creator: byCreator },
  repositories: { namespace: byNamespace },
  environments: { namespace: byNamespace, repository: byRepository, hostLabel: byHostLabel },
  reusables: { repository: byRepository },
  users: USER_INDEXES,
};

export function repositoryIndexValue(namespace: string, repository: string): string {
  return `${namespace}/${repository}`;
}
