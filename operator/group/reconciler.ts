import { mergeConditions, type ConditionReport } from '../../crds/conditions.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP, groupSchema, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, storeNamespace } from '../../crds/reusable-environment.ts';
import type { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteObject } from '../../kubernetes/delete-object.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, Namespace, RoleBinding, type ObjectName } from '../../kubernetes/resource-type.ts';
import type { BuilderPool } from '../builders/pool.ts';
import { afterError, ready, REQUESTS_VALID, requestReport } from '../conditions.ts';
import { createOrGet } from '../create-or-get.ts';
import { Waiting } from '../errors.ts';
import { addFinalizer, removeFinalizer } from '../finalizer.ts';
import { lostLabels } from '../isolation/lost-labels.ts';
import { parseObject } from '../parse-object.ts';
import type { ReusableStore } from '../reusable/store.ts';
import type { StatusWriter } from '../status-writer.ts';
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

export interface GroupParts {
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

/** Keeps a Group's namespace, which holds its Repositories and Environments, and lets members and API into it. */
export class GroupReconciler {
  readonly #parts: GroupParts;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.groups.get(key);
    if (!found) return {};
    const { object: group, problem } = parseObject(groupSchema, found);
    try {
      if (found.metadata.deletionTimestamp) return await this.#finalize(group);
      if (problem) throw problem;
      await addFinalizer(this.#parts.client, GROUP, group);
      await this.#ensureNamespace(group);
      await eachOrFirstError(roleBindings(group, this.#parts.roles), (one) => this.#ensureBinding(one));
      await this.#parts.store.restore(group);
    } catch (error) {
      await this.#report(group, afterError(error));
      throw error;
    }
    await this.#report(group, ready('NamespaceReady', `the namespace ${groupNamespace(group.metadata.name)} is there`));
    return {};
  }

  /** Makes the namespace, or takes one that an administrator made and labelled for this group. */
  async #ensureNamespace(group: Group): Promise<void> {
    const { client, namespaces } = this.#parts;
    const name = groupNamespace(group.metadata.name);
    const namespace =
      namespaces.get(name) ?? (await createOrGet(client, namespaces, Namespace, groupNamespaceObject(group)));
    if (namespace.metadata.deletionTimestamp) {
      throw new Waiting('NamespaceTerminating', `the namespace ${name} is still being removed`, recheckMs);
    }
    if (isNamespaceOf(group, namespace)) return this.#restoreLabels(groupNamespaceObject(group), namespace);
    if (isOffered(group, namespace)) return this.#restoreLabels(offeredNamespaceObject(group), namespace);
    throw new Waiting(
      'NamespaceTaken',
      `the namespace ${name} exists and is not this group's: label it ${LABELS.group}=${group.metadata.name} to let the group have it`,
      takenRecheckMs,
    );
  }

  async #restoreLabels(wanted: Namespace, live: Namespace): Promise<void> {
    const labels = lostLabels(wanted, live);
    if (!labels) return;
    const { name, uid } = live.metadata;
    const restored = await this.#parts.client.patch(Namespace, { name }, { metadata: { uid, labels } });
    this.#parts.namespaces.observe(restored);
  }

  async #ensureBinding(binding: RoleBinding): Promise<void> {
    const { client, applier, roleBindings: held } = this.#parts;
    const { namespace = '', name } = binding.metadata;
    const live = held.get(keyOf(binding)) ?? (await client.find(RoleBinding, { namespace, name }));
    if (live && !bindsRole(live, binding.roleRef.name)) {
      throw new Waiting(
        'RoleBindingTaken',
        `the RoleBinding ${name} in the namespace ${namespace} binds ${live.roleRef.name}, and is not Coppice's: give it another name`,
        takenRecheckMs,
      );
    }
    const { object, written } = await applier.apply(RoleBinding, binding, live);
    if (written) held.observe(object);
  }

  async #removeBinding(at: ObjectName, role: string): Promise<void> {
    const live = await this.#parts.client.find(RoleBinding, at);
    if (live && bindsRole(live, role)) await deleteObject(this.#parts.client, RoleBinding, live);
  }

  async #report(group: Group, reports: ConditionReport[]): Promise<void> {
    const generation = group.metadata.generation ?? 0;
    const requests = requestReport([], group.metadata.annotations);
    const before = group.status?.conditions?.filter(({ type }) => requests || type !== REQUESTS_VALID);
    const all = [...reports, ...(requests ? [requests] : [])];
    const conditions = mergeConditions(before, all, generation, this.#parts.now());
    const namespace = groupNamespace(group.metadata.name);
    await this.#parts.statuses.write(group, { observedGeneration: generation, namespace, conditions });
  }

  /** What the group has goes first; then its namespace, if Coppice made it. */
  async #finalize(group: Group): Promise<ReconcileResult> {
    const { client, builders, roles } = this.#parts;
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
      await eachOrFirstError(bound, ([name, role]) => this.#removeBinding({ namespace, name }, role));
    }
    // Its cache must not be there for another group of this name.
    if (!isBuilderGone) return { requeueAfterMs: builderRecheckMs };
    await removeFinalizer(client, GROUP, group);
    return {};
  }

  /** The namespace of its reusable environments' volumes. True when there is none. */
  async #removeStore(group: Group): Promise<boolean> {
    const { client, namespaces } = this.#parts;
    const store = namespaces.get(storeNamespace(group.metadata.name));
    if (!store || !isNamespaceOf(group, store)) return true;
    await deleteObject(client, Namespace, store);
    return false;
  }
}

/** Does all that can be done; the error is the first one's in their order. */
async function eachOrFirstError<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
  const acts = items.map(act);
  await Promise.allSettled(acts);
  await Promise.all(acts);
}
