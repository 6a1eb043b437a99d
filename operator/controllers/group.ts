import { GROUP, type Group } from '../../crds/group.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { BuilderPool } from '../images/builders/pool.ts';
import type { OperatorCaches } from './caches.ts';
import { environmentKeyOf } from '../shared/environment-keys.ts';
import { GroupReconciler } from '../kinds/group/reconciler.ts';
import type { OperatorContext } from './context.ts';
import { ReusableStore } from '../kinds/group/volume-store.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { createController } from './controller.ts';
import { isStatusOnly } from '../shared/watch-filters.ts';

/** Creates the controller of Groups, which manages their namespaces and permissions. */
export function groupController(context: OperatorContext, builders: BuilderPool): Controller {
  const reconciler = groupReconciler(context, builders);
  const controller = createController(context, { name: 'group', reconciler, workers: 4 });
  watchForGroups(context.caches, controller);
  return controller;
}

/** Requeues a Group when it or an object in its namespaces changes, and when an object is deleted that it waits for. */
export function watchForGroups(caches: OperatorCaches, controller: Pick<Controller, 'enqueue'>): void {
  const { groups, repositories, environments, reusables, namespaces, roleBindings, networkPolicies } = caches;
  groups.addHandler((_type, group, old) => {
    if (!isStatusOnly(group, old)) controller.enqueue(keyOf(group));
  });
  namespaces.addHandler((_type, namespace, old) => {
    enqueueOwner(namespace);
    // Changed labels may have moved the object to another group.
    if (old) enqueueOwner(old);
  });
  roleBindings.addHandler((_type, binding) => enqueueOwner(binding));
  // Includes the policy in the namespace of a group's published volumes.
  networkPolicies.addHandler((_type, policy) => enqueueOwner(policy));
  repositories.addHandler((type, repository, old) => {
    if (type === 'deleted' && !isStatusOnly(repository, old)) enqueueIfDeleted(repository);
  });
  environments.addHandler((type, environment) => {
    if (type === 'deleted') enqueueIfDeleted(environment);
  });
  reusables.addHandler((type, reusable) => {
    if (type === 'deleted') enqueueIfDeleted(reusable);
  });

  function enqueueOwner(object: KubernetesObject): void {
    const group = object.metadata.labels?.[LABELS.group];
    if (group !== undefined && environmentKeyOf(object) === undefined) controller.enqueue(group);
  }

  /** Requeues a Group that is being deleted and waits for its objects. */
  function enqueueIfDeleted({ metadata }: KubernetesObject): void {
    const group = groups.get(groupOfNamespace(metadata.namespace ?? '') ?? '');
    if (group?.metadata.deletionTimestamp !== undefined) controller.enqueue(keyOf(group));
  }
}

function groupReconciler(
  { client, applier, caches, config, now }: OperatorContext,
  builders: BuilderPool,
): GroupReconciler {
  const { groups, namespaces, roleBindings } = caches;
  const store = new ReusableStore({ ...caches, client, applier });
  const statuses = new StatusWriter<Group>(client, GROUP, groups);
  const { memberRole: member, apiRole: api, apiServiceAccount } = config.groups;
  const roles = { member, api, apiServiceAccount: { namespace: config.systemNamespace, name: apiServiceAccount } };
  return new GroupReconciler({
    ...{ client, applier, groups, namespaces, roleBindings, store, builders, statuses, roles, now },
  });
}
