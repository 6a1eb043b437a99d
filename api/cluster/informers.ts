import { LABELS } from '../../crds/labels.ts';
import type { Logger } from 'pino';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import type { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { USER_RECORD } from '../users/user-record.ts';
import { indexes } from './caches.ts';

/** The informers that fill the caches. */
export function apiInformers(client: ClusterClient, usersNamespace: string, logger: Logger, metrics: RuntimeMetrics) {
  const options = (name: string) => ({ name, logger, metrics: metrics.forInformer(name) });
  return {
    groups: new Informer<Group>({
      ...options('Group'),
      source: listWatch<Group>(client, GROUP),
      indexes: indexes.groups,
    }),
    repositories: new Informer<Repository>({
      ...options('Repository'),
      source: listWatch<Repository>(client, REPOSITORY),
      indexes: indexes.repositories,
    }),
    environments: new Informer<Environment>({
      ...options('Environment'),
      source: listWatch<Environment>(client, ENVIRONMENT),
      indexes: indexes.environments,
    }),
    users: new Informer<Secret>({
      ...options('User'),
      source: listWatch<Secret>(client, Secret, {
        namespace: usersNamespace,
        labelSelector: `${LABELS.record}=${USER_RECORD}`,
      }),
    }),
  };
}
