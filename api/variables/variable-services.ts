import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { VariableService } from './variable-service.ts';

/** Creates the services for the variables of groups and of repositories. */
export function variableServices(cluster: ClusterWriter, caches: Caches, randomBytes: RandomBytes) {
  return {
    groups: new VariableService<Group>({
      cluster,
      cache: caches.groups,
      type: GROUP,
      namespaceOf: ({ metadata }) => groupNamespace(metadata.name),
      randomBytes,
    }),
    repositories: new VariableService<Repository>({
      cluster,
      cache: caches.repositories,
      type: REPOSITORY,
      namespaceOf: ({ metadata }) => metadata.namespace ?? '',
      randomBytes,
    }),
  };
}
