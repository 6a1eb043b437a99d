import { mergeConditions, type ConditionReport } from '../../crds/conditions.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP, groupSchema, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { ANNOTATIONS, LABELS } from '../../crds/labels.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { Namespace, RoleBinding } from '../../kubernetes/resource-type.ts';
import { afterError, ready } from '../conditions.ts';
import { Waiting } from '../errors.ts';
import { addFinalizer, removeFinalizer } from '../finalizer.ts';
import type { StatusWriter } from '../status-writer.ts';
import { groupNamespaceObject, memberBinding, MEMBERS_BINDING } from './objects.ts';

export interface GroupParts {
  client: ClusterClient;
  applier: Applier;
  groups: Informer<Group>;
  namespaces: Informer<Namespace>;
  statuses: StatusWriter<Group>;
  /** The ClusterRole that lets members look at their group's namespace. */
  memberRole: string;
  now: () => Date;
}

const recheckMs = 10_000;
/** Namespaces of others are not watched. */
const takenRecheckMs = 30_000;

/** Keeps a Group's namespace, which holds its Repositories and Environments, and lets its members look into it. */
export class GroupReconciler {
  readonly #parts: GroupParts;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.groups.get(key);
    if (!found) return {};
    const group: Group = { ...groupSchema.parse(found), apiVersion: found.apiVersion, kind: found.kind };
    if (found.metadata.deletionTimestamp) return this.#finalize(group);
    try {
      await addFinalizer(this.#parts.client, GROUP, group);
      await this.#ensureNamespace(group);
      await this.#ensureBinding(group);
    } catch (error) {
      await this.#report(group, afterError(error));
      throw error;
    }
    await this.#report(group, ready('NamespaceReady', `the namespace ${groupNamespace(group.metadata.name)} is there`));
    return {};
  }

  /** Makes the namespace, or takes one that an administrator made and labelled for this group. */
  async #ensureNamespace(group: Group): Promise<void> {
    const name = groupNamespace(group.metadata.name);
    const namespace = this.#parts.namespaces.get(name) ?? (await this.#createNamespace(group));
    if (namespace.metadata.deletionTimestamp) {
      throw new Waiting('NamespaceTerminating', `the namespace ${name} is still being removed`, recheckMs);
    }
    if (isOwn(namespace, group) || isOffered(namespace, group)) return;
    throw new Waiting(
      'NamespaceTaken',
      `the namespace ${name} exists and is not this group's: label it ${LABELS.group}=${group.metadata.name} to let the group have it`,
      takenRecheckMs,
    );
  }

  async #createNamespace(group: Group): Promise<Namespace> {
    const { client, namespaces } = this.#parts;
    const made = groupNamespaceObject(group);
    try {
      const namespace = await client.create(Namespace, made);
      namespaces.observe(namespace);
      return namespace;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return client.get(Namespace, { name: made.metadata.name });
    }
  }

  async #ensureBinding(group: Group): Promise<void> {
    const { client, applier, memberRole } = this.#parts;
    const binding = memberBinding(group, memberRole);
    const { namespace, name } = binding.metadata;
    await applier.apply(RoleBinding, binding, await client.find(RoleBinding, { namespace, name }));
  }

  async #report(group: Group, reports: ConditionReport[]): Promise<void> {
    const generation = group.metadata.generation ?? 0;
    const conditions = mergeConditions(group.status?.conditions, reports, generation, this.#parts.now());
    const namespace = groupNamespace(group.metadata.name);
    await this.#parts.statuses.write(group, { observedGeneration: generation, namespace, conditions });
  }

  /** What the group has goes first; then its namespace, if Coppice made it. */
  async #finalize(group: Group): Promise<ReconcileResult> {
    const { client } = this.#parts;
    const namespace = groupNamespace(group.metadata.name);
    for (const type of [REPOSITORY, ENVIRONMENT]) {
      const { items } = await client.list(type, { namespace });
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp) continue;
        await deleteIfThere(client, type, { namespace, name: metadata.name }, { uid: metadata.uid });
      }
      if (items.length > 0) return { requeueAfterMs: recheckMs };
    }
    const found = await client.find(Namespace, { name: namespace });
    if (found && isOwn(found, group)) {
      await deleteIfThere(client, Namespace, { name: namespace }, { uid: found.metadata.uid });
      return { requeueAfterMs: recheckMs };
    }
    if (found) await deleteIfThere(client, RoleBinding, { namespace, name: MEMBERS_BINDING });
    await removeFinalizer(client, GROUP, group);
    return {};
  }
}

function isOwn(namespace: Namespace, group: Group): boolean {
  return namespace.metadata.annotations?.[ANNOTATIONS.ownerUid] === group.metadata.uid;
}

function isOffered(namespace: Namespace, group: Group): boolean {
  const { annotations, labels } = namespace.metadata;
  return annotations?.[ANNOTATIONS.ownerUid] === undefined && labels?.[LABELS.group] === group.metadata.name;
}
