import { LABELS } from '../../crds/labels.ts';
import type { Logger } from 'pino';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { withAppliers } from '../../crds/ownership.ts';
import { withoutTexts } from '../../crds/repository-texts.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import type { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { Secret, type KubernetesObject, type ResourceType } from '../../kubernetes/resource-type.ts';
import { USER_RECORD } from '../user-records/user-record.ts';
import { INDEXES, type FreshCaches } from './caches.ts';
import { FreshCache } from './fresh-cache.ts';

/** For all objects of one kind: well below the timeouts of clients. */
const listTimeoutMs = 10_000;

function keptOfRepository(repository: Repository): Repository {
  return withAppliers(withoutTexts(repository));
}

/** Creates the informers that fill the caches. */
export function apiInformers(client: ClusterClient, usersNamespace: string, logger: Logger, metrics: RuntimeMetrics) {
  const options = (name: string) => ({ name, logger, metrics: metrics.forInformer(name) });
  return {
    groups: new Informer<Group>({
      ...options('Group'),
      transform: withAppliers,
      source: listWatch<Group>(client, GROUP),
      indexes: INDEXES.groups,
    }),
    repositories: new Informer<Repository>({
      ...options('Repository'),
      transform: keptOfRepository,
      source: listWatch<Repository>(client, REPOSITORY),
      indexes: INDEXES.repositories,
    }),
    environments: new Informer<Environment>({
      ...options('Environment'),
      transform: withAppliers,
      source: listWatch<Environment>(client, ENVIRONMENT),
      indexes: INDEXES.environments,
    }),
    reusables: new Informer<ReusableEnvironment>({
      ...options('ReusableEnvironment'),
      source: listWatch<ReusableEnvironment>(client, REUSABLE_ENVIRONMENT),
      indexes: INDEXES.reusables,
    }),
    users: new Informer<Secret>({
      ...options('User'),
      source: listWatch<Secret>(client, Secret, userRecords(usersNamespace)),
      indexes: INDEXES.users,
    }),
  };
}

export type ApiInformers = ReturnType<typeof apiInformers>;

/** Returns the caches that routes read: informers, backed by the API server if one is late. */
export function freshCaches(client: ClusterClient, usersNamespace: string, informers: ApiInformers): FreshCaches {
  const list =
    <T extends KubernetesObject>(type: ResourceType<T>) =>
    () =>
      client.list<T>(type, { timeoutMs: listTimeoutMs });
  const { groups, repositories, environments, reusables, users } = informers;
  return {
    groups: new FreshCache({ informer: groups, indexes: INDEXES.groups, list: list(GROUP) }),
    repositories: new FreshCache({ informer: repositories, indexes: INDEXES.repositories, list: list(REPOSITORY) }),
    environments: new FreshCache({ informer: environments, indexes: INDEXES.environments, list: list(ENVIRONMENT) }),
    reusables: new FreshCache({ informer: reusables, indexes: INDEXES.reusables, list: list(REUSABLE_ENVIRONMENT) }),
    users: new FreshCache({
      informer: users,
      indexes: INDEXES.users,
      list: () => client.list<Secret>(Secret, { ...userRecords(usersNamespace), timeoutMs: listTimeoutMs }),
    }),
  };
}

/** Selects the Secrets that are user records. */
function userRecords(namespace: string) {
  return { namespace, labelSelector: `${LABELS.record}=${USER_RECORD}` };
}
