import { findCondition, mergeConditions, type ConditionReport } from '../../../crds/conditions.ts';
import { ENVIRONMENT } from '../../../crds/environment.ts';
import { GROUP, groupSchema, type Group } from '../../../crds/group.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import { REPOSITORY } from '../../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, storeNamespace } from '../../../crds/reusable-environment.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, Namespace, RoleBinding, type ObjectName } from '../../../kubernetes/resource-type.ts';
import type { BuilderPool } from '../../images/builders/pool.ts';
import { afterError, inputReports, ready, terminating } from '../../shared/conditions.ts';
import { createOrGet } from '../../shared/create-or-get.ts';
import { Waiting } from '../../shared/errors.ts';
import { addFinalizer, removeFinalizer } from '../../shared/finalizer.ts';
import { lostLabels } from '../../services/isolation/lost-labels.ts';
import { RestoreLimit } from '../../services/isolation/restore-limit.ts';
import { parseObject } from '../../shared/parse-object.ts';
import type { ReusableStore } from './volume-store.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import {
  bindsRole,
  boundRoles,
  groupNamespaceObject,
  isNamespaceOf,
  isOffered,
  offeredNamespaceObject,
  roleBindings,
  type GroupRoles,
} from './objects.ts';
import { settled } from '../../shared/settled.ts';

export interface GroupReconcilerOptions {
  client: ClusterClient;
  applier: Applier;
  groups: Informer<Group>;
  namespaces: Informer<Namespace>;
  roleBindings: Pick<Informer<RoleBinding>, 'get' | 'observe'>;
  store: Pick<ReusableStore, 'restore'>;
  builders: Pick<BuilderPool, 'remove'>;
  statuses: StatusWriter<Group>;
  roles: GroupRoles;
  now: () => Date;
}

const recheckMs = 10_000;
const builderRecheckMs = 1000;
/** Namespaces without the group's label are not watched. */
const takenRecheckMs = 30_000;

/**
 * Manages a Group's namespace, which contains its Repositories and Environments, and the permissions of members and the
 * API in it.
 */
export class GroupReconciler {
  readonly #options: GroupReconcilerOptions;
  readonly #restores = new RestoreLimit();

  constructor(options: GroupReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#options.groups.get(key);
    if (!found) return {};
    const { object: group, problem } = parseObject(groupSchema, found);
    let result: ReconcileResult;
    try {
      if (found.metadata.deletionTimestamp) return await this.#end(group);
      if (problem) throw problem;
      await addFinalizer(this.#options.client, GROUP, group);
      result = await this.#ensureIsolated(group);
    } catch (error) {
      await this.#report(group, afterError(error));
      throw error;
    }
    await this.#report(group, ready('NamespaceReady', `the namespace ${groupNamespace(group.metadata.name)} exists`));
    return result;
  }

  /**
   * Creates and restores the group's namespace. RestoreLimit limits how often other writers' changes are reverted: a
   * tool that sets its own values again each time would otherwise keep the operator writing forever.
   */
  async #ensureIsolated(group: Group): Promise<ReconcileResult> {
    const { name } = group.metadata;
    const now = this.#options.now();
    const isSetUp = isReady(group);
    const waitMs = isSetUp ? this.#restores.waitMs(name, now) : 0;
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const ensured = [
      await this.#ensureNamespace(group),
      ...(await settled(roleBindings(group, this.#options.roles).map((one) => this.#ensureBinding(one)))),
      await this.#options.store.restore(group),
    ];
    if (isSetUp && ensured.includes(true)) this.#restores.take(name, now);
    return {};
  }

  /**
   * Creates the namespace, or adopts one that an administrator labeled for this group; returns whether it was written.
   */
  async #ensureNamespace(group: Group): Promise<boolean> {
    const { client, namespaces } = this.#options;
    const name = groupNamespace(group.metadata.name);
    const held = namespaces.get(name);
    const namespace = held ?? (await createOrGet(client, namespaces, Namespace, groupNamespaceObject(group)));
    if (namespace.metadata.deletionTimestamp) {
      throw new Waiting('NamespaceTerminating', `the namespace ${name} is still being deleted`, recheckMs);
    }
    const isOwn = isNamespaceOf(group, namespace);
    if (isOwn || isOffered(group, namespace)) {
      const wanted = isOwn ? groupNamespaceObject(group) : offeredNamespaceObject(group);
      return (await this.#restoreLabels(wanted, namespace)) || held === undefined;
    }
    throw new Waiting(
      'NamespaceTaken',
      `the namespace ${name} exists and does not belong to this group. Label it ${LABELS.group}=${group.metadata.name} to let the group use it`,
      takenRecheckMs,
    );
  }

  /** Restores missing labels; returns whether any was missing. */
  async #restoreLabels(wanted: Namespace, live: Namespace): Promise<boolean> {
    const labels = lostLabels(wanted, live);
    if (!labels) return false;
    const { name, uid } = live.metadata;
    const restored = await this.#options.client.patch(Namespace, { name }, { metadata: { uid, labels } });
    this.#options.namespaces.observe(restored);
    return true;
  }

  /** Creates or restores the RoleBinding; returns whether it was written. */
  async #ensureBinding(binding: RoleBinding): Promise<boolean> {
    const { client, applier, roleBindings: held } = this.#options;
    const { namespace = '', name } = binding.metadata;
    const live = held.get(keyOf(binding)) ?? (await client.find(RoleBinding, { namespace, name }));
    if (live && !bindsRole(live, binding.roleRef.name)) {
      throw new Waiting(
        'RoleBindingTaken',
        `the RoleBinding ${name} in the namespace ${namespace} binds ${live.roleRef.name}, and was not created by Coppice. Rename it`,
        takenRecheckMs,
      );
    }
    const { object, written } = await applier.apply(RoleBinding, binding, live);
    if (written) held.observe(object);
    return written;
  }

  async #removeBinding(at: ObjectName, role: string): Promise<void> {
    const live = await this.#options.client.find(RoleBinding, at);
    if (live && bindsRole(live, role)) await deleteObject(this.#options.client, RoleBinding, live);
  }

  async #report(group: Group, reports: ConditionReport[]): Promise<void> {
    const generation = group.metadata.generation ?? 0;
    const input = inputReports([], group);
    const conditions = mergeConditions(input.before, [...reports, ...input.reports], generation, this.#options.now());
    const namespace = groupNamespace(group.metadata.name);
    await this.#options.statuses.write(group, { observedGeneration: generation, namespace, conditions });
  }

  /** Deletes what belongs to the group, and reports that it is being deleted until nothing is left. */
  async #end(group: Group): Promise<ReconcileResult> {
    const result = await this.#finalize(group);
    if (result.requeueAfterMs !== undefined) {
      await this.#report(group, terminating('the group is being deleted, with its repositories and environments'));
    }
    return result;
  }

  /** Deletes the group's objects, then its namespace if Coppice created it. */
  async #finalize(group: Group): Promise<ReconcileResult> {
    const { client, builders, roles } = this.#options;
    const namespace = groupNamespace(group.metadata.name);
    for (const type of [REPOSITORY, ENVIRONMENT, REUSABLE_ENVIRONMENT]) {
      const { items } = await client.list(type, { namespace });
      for (const object of items) await deleteObject(client, type, object);
      if (items.length > 0) return { requeueAfterMs: recheckMs };
    }
    if (!(await this.#removeStore(group))) return { requeueAfterMs: recheckMs };
    const isBuilderGone = await builders.remove(group.metadata.name);
    const found = await client.find(Namespace, { name: namespace });
    if (found && isNamespaceOf(group, found)) {
      await deleteObject(client, Namespace, found);
      return { requeueAfterMs: recheckMs };
    }
    if (found) {
      const bound = Object.entries(boundRoles(roles));
      await settled(bound.map(([name, role]) => this.#removeBinding({ namespace, name }, role)));
    }
    // The builder's cache must not be available to another group of this name.
    if (!isBuilderGone) return { requeueAfterMs: builderRecheckMs };
    await removeFinalizer(client, GROUP, group);
    return {};
  }

  /** Deletes the namespace of the group's published volumes; returns whether it is gone. */
  async #removeStore(group: Group): Promise<boolean> {
    const { client, namespaces } = this.#options;
    const store = namespaces.get(storeNamespace(group.metadata.name));
    if (!store || !isNamespaceOf(group, store)) return true;
    await deleteObject(client, Namespace, store);
    return false;
  }
}

/** Returns whether the current generation of the group was reconciled successfully. */
function isReady({ metadata, status }: Group): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === (metadata.generation ?? 0);
}
