import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { OVERRIDES_BYTES } from './variable-secrets.ts';
import { VariableService } from './variable-service.ts';

/** Creates the services for the variables of groups, of repositories, and of environments, which override them. */
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
    environments: new VariableService<Environment>({
      cluster,
      cache: caches.environments,
      type: ENVIRONMENT,
      namespaceOf: ({ metadata }) => metadata.namespace ?? '',
      randomBytes,
      max: 'overridingVariables',
      maxBytes: OVERRIDES_BYTES,
    }),
  };
}
