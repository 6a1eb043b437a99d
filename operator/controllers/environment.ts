import { isDeepStrictEqual } from 'node:util';
import { Masks } from '../../build-logs/masks.ts';
import { BuildLogRetention } from '../../build-logs/retention.ts';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import { findCondition } from '../../crds/conditions.ts';
import type { Environment } from '../../crds/environment.ts';
import { groupNamespace, groupOfNamespace } from '../../crds/ids.ts';
import { pendingRequests } from '../../crds/requests.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { createBuildQueues } from '../images/build/build-limits.ts';
import { LogSessions } from '../images/logs/log-sessions.ts';
import type { BuilderPool } from '../images/builders/pool.ts';
import type { OperatorCaches } from './caches.ts';
import { environmentKeyOf } from '../shared/environment-keys.ts';
import type { OperatorContext } from './context.ts';
import { REUSABLE_ANNOTATIONS } from '../kinds/reusable/names.ts';
import type { Reusables } from '../kinds/reusable/reusables.ts';
import { createController } from './controller.ts';
import { isReady } from '../services/front/ready-pods.ts';
import { RestoreLimit } from '../services/isolation/restore-limit.ts';
import { createEnvironmentReconciler } from './environment-reconciler.ts';
import { isSameOwner, isSameRevision, isStatusOnly } from '../shared/watch-filters.ts';

export interface EnvironmentControllerOptions {
  builders: BuilderPool;
  reusables: Reusables;
  /** Adds an Environment to this controller's queue. */
  enqueue: (key: string) => void;
}

/** Creates the controller of Environments. `logs` are those of running builds. */
export function environmentController(
  context: OperatorContext,
  { builders, reusables, enqueue }: EnvironmentControllerOptions,
): { controller: Controller; logs: LogSessions; retention: BuildLogRetention } {
  const { client, caches, redis, flows, config, access, logger, now } = context;
  const retention = buildLogRetention(context);
  const masks = new Masks();
  const logs = new LogSessions({
    client,
    pods: caches.pods,
    openWriter: (logId, secrets) => BuildLogWriter.open(redis, logId, { secrets, masks }),
    onEnded: (uid, build) => retention.ended(uid, build),
    enqueue,
    logger,
  });
  const queues = createBuildQueues(caches.jobs, config.builder, flows, enqueue, now);
  const reconciler = createEnvironmentReconciler(context, { logs, masks, builders, queues, reusables, enqueue });
  const flowOf = (key: string) => flows.ofEnvironment(key);
  const isUrgent = (key: string) => isInTransition(caches.environments.get(key));
  const { workers } = config;
  const controller = createController(context, { name: 'environment', reconciler, workers, flowOf, isUrgent });
  watchForEnvironments(caches, controller, now);
  // Each environment's namespace has a Secret with registry credentials.
  access.watch(() => {
    for (const environment of caches.environments.list()) controller.enqueue(keyOf(environment));
  });
  return { controller, logs, retention };
}

/**
 * Returns whether somebody waits for an Environment: it is being reconciled, built or deleted, or has changed since its
 * last reconcile.
 */
export function isInTransition(environment: Environment | undefined): boolean {
  if (!environment) return true;
  const { metadata, status } = environment;
  return (
    status?.observedGeneration !== metadata.generation ||
    metadata.deletionTimestamp !== undefined ||
    findCondition(status?.conditions, 'Reconciling')?.status === 'True' ||
    status?.build?.result === 'running' ||
    pendingRequests(metadata.annotations, status?.handledRequests).length > 0
  );
}

/** Requeues an Environment when it, its Repository, its Group or an object in its namespace changes. */
export function watchForEnvironments(
  caches: OperatorCaches,
  controller: Pick<Controller, 'enqueue' | 'enqueueAfter'>,
  now: () => Date,
): void {
  // Members are bound in the namespace of each environment of their group.
  const memberChanges = new RestoreLimit();
  const { groups, repositories, environments, namespaces } = caches;
  environments.addHandler((_type, environment, old) => {
    if (!isStatusOnly(environment, old)) controller.enqueue(keyOf(environment));
  });
  repositories.addHandler((_type, repository, old) => {
    // A sync request, which every push causes, concerns no environment yet.
    if (isStatusOnly(repository, old) || isSameRevision(repository, old)) return;
    for (const one of environments.byIndex('repository', keyOf(repository))) controller.enqueue(keyOf(one));
  });
  groups.addHandler((_type, group, old) => {
    const isSame = group.metadata.uid === old?.metadata.uid && isDeepStrictEqual(group.spec.members, old?.spec.members);
    if (isSame) return;
    const isChange = group.metadata.uid === old?.metadata.uid;
    enqueueAllOf(groupNamespace(group.metadata.name), isChange ? memberChanges.take(group.metadata.name, now()) : 0);
  });
  namespaces.addHandler((_type, namespace, old) => {
    enqueueOwner(namespace);
    // Changed labels may have moved the object to another environment.
    if (old) enqueueOwner(old);
    const { name } = namespace.metadata;
    if (groupOfNamespace(name) !== undefined && !isSameOwner(namespace, old)) enqueueAllOf(name);
  });
  for (const cache of [caches.isolationPolicies, caches.limitRanges, caches.resourceQuotas, caches.memberBindings]) {
    cache.addHandler((type, object, old) => {
      if (type === 'updated' && object.state === old?.state) return;
      const namespace = namespaces.get(object.metadata.namespace ?? '');
      if (namespace && namespace.metadata.deletionTimestamp === undefined) enqueueOwner(namespace);
    });
  }
  caches.wakerPods.addHandler((type, pod, old) => {
    if (type === 'updated' && old && isReady(pod) === isReady(old)) return;
    for (const one of environments.list()) {
      const { asleep, watchedSince } = one.status?.sleep ?? {};
      if (asleep === true || watchedSince !== undefined) controller.enqueue(keyOf(one));
    }
  });
  const { deployments, services, ingresses, jobs, volumeClaims, pods, networkPolicies, endpointSlices } = caches;
  const published = [ingresses, caches.httpRoutes, caches.middlewares].filter((cache) => cache !== undefined);
  const owned = [deployments, services, ...published, jobs, volumeClaims, pods, networkPolicies, endpointSlices];
  for (const cache of owned as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((_type, object) => enqueueOwner(object));
  }
  // Jobs, claims and volumes that copy its volumes are in other namespaces too.
  for (const cache of [jobs, volumeClaims, caches.movingVolumes] as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((_type, { metadata }) => {
      const key = metadata.annotations?.[REUSABLE_ANNOTATIONS.environment];
      if (key !== undefined) controller.enqueue(key);
    });
  }

  /** Requeues the Environments of a namespace that may now belong to a Group. */
  function enqueueAllOf(namespace: string, afterMs = 0): void {
    for (const one of environments.byIndex('namespace', namespace)) {
      if (afterMs > 0) controller.enqueueAfter(keyOf(one), afterMs);
      else controller.enqueue(keyOf(one));
    }
  }

  function enqueueOwner(object: KubernetesObject): void {
    const environment = environmentKeyOf(object);
    if (environment !== undefined) controller.enqueue(environment);
  }
}

/**
 * Creates the retention of build logs. An environment's logs are deleted with it; if no operator was running then,
 * housekeeping deletes them.
 */
function buildLogRetention({ redis, config, caches, flows, logger, now }: OperatorContext): BuildLogRetention {
  const { buildsPerEnvironment, totalMiB } = config.buildLogs;
  const tenantOf = (uid: string) =>
    flows.ofNamespace(caches.environments.byIndex('uid', uid)[0]?.metadata.namespace).tenant;
  const budget = { buildsPerEnvironment, totalBytes: totalMiB * 1024 * 1024 };
  const retention = new BuildLogRetention(redis, budget, now, tenantOf);
  caches.environments.addHandler((type, { metadata, status }) => {
    if (type !== 'deleted' || status?.build === undefined) return;
    retention
      .forget(metadata.uid ?? '', status.build.number)
      .catch((error: unknown) =>
        logger.warn(
          { err: error },
          "a deleted environment's build logs could not be deleted; housekeeping deletes them",
        ),
      );
  });
  return retention;
}
