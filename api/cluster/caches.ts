import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import type { KubernetesObject, Secret } from '../../kubernetes/resource-type.ts';

/** What the API reads of an informer. Objects in it are shared: nobody changes them. */
export type ObjectCache<T extends KubernetesObject> = Pick<Informer<T>, 'get' | 'byIndex' | 'observe' | 'waitFor'>;

/** What the API asks of the API server: single objects, never a workload. */
export type ClusterWriter = Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>;

/** All lists and single reads come from here; what this process has written it puts in by observe(). */
export interface Caches {
  groups: ObjectCache<Group>;
  repositories: ObjectCache<Repository>;
  environments: ObjectCache<Environment>;
  /** The Secrets of the users' namespace that are user records. */
  users: ObjectCache<Secret>;
}

const byMember: IndexFunction<Group> = (group) => group.spec.members;
const byNamespace: IndexFunction<Repository> = ({ metadata }) => [metadata.namespace ?? ''];
const byRepository: IndexFunction<Environment> = ({ metadata, spec }) => [
  repositoryIndexValue(metadata.namespace ?? '', spec.repository),
];

/** The informers' indexes: what a request needs is found without walking over 10,000 environments. */
export const indexes = {
  groups: { member: byMember },
  repositories: { namespace: byNamespace },
  environments: { repository: byRepository },
};

export function repositoryIndexValue(namespace: string, repository: string): string {
  return `${namespace}/${repository}`;
}
