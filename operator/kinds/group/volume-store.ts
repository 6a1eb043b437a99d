import { type Group, GROUP } from '../../../crds/group.ts';
import { storeNamespace } from '../../../crds/reusable-environment.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { Namespace, NetworkPolicy, objectKey } from '../../../kubernetes/resource-type.ts';
import { createOrGet } from '../../shared/create-or-get.ts';
import { environmentNamespaceObject } from '../../services/isolation/isolation-objects.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { groupLabels, isNamespaceOf } from './objects.ts';
import { lostLabels } from '../../services/isolation/lost-labels.ts';

const recheckMs = 5000;

interface StoreOptions {
  client: Pick<ClusterClient, 'create' | 'get' | 'patch'>;
  applier: Applier;
  groups: Pick<Informer<Group>, 'get'>;
  namespaces: Informer<Namespace>;
  networkPolicies: Informer<NetworkPolicy>;
}

/** Manages the namespace of a group's published volumes, in which only the Jobs that copy them run. */
export class ReusableStore {
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /**
   * Creates the namespace if missing. Throws Stalled if a namespace of that name belongs to somebody else, Waiting
   * while a previous one is being deleted.
   */
  async ensure(groupName: string): Promise<string> {
    const { client, namespaces, groups } = this.#options;
    const group = groups.get(groupName);
    if (!group) {
      const message = `volumes cannot be published, because there is no ${GROUP.kind} ${groupName}. Create it`;
      throw new Waiting('GroupMissing', message, recheckMs);
    }
    const name = storeNamespace(groupName);
    const namespace =
      namespaces.get(name) ?? (await createOrGet(client, namespaces, Namespace, storeNamespaceObject(group)));
    if (!isNamespaceOf(group, namespace)) {
      throw new Stalled('NamespaceTaken', `the namespace ${name} exists and was not created for this group. Delete it`);
    }
    if (namespace.metadata.deletionTimestamp !== undefined) {
      throw new Waiting('NamespaceTerminating', `the namespace ${name} is still being deleted`, recheckMs);
    }
    await this.#isolate(group, namespace);
    return name;
  }

  /** Restores the isolation of the namespace, if it exists; returns whether something was missing. */
  async restore(group: Group): Promise<boolean> {
    const namespace = this.#options.namespaces.get(storeNamespace(group.metadata.name));
    if (!namespace || !isNamespaceOf(group, namespace) || namespace.metadata.deletionTimestamp !== undefined)
      return false;
    return this.#isolate(group, namespace);
  }

  /** Applies the isolation objects; returns whether any was written. */
  async #isolate(group: Group, namespace: Namespace): Promise<boolean> {
    const { client, namespaces, networkPolicies, applier } = this.#options;
    const { name, uid } = namespace.metadata;
    const labels = lostLabels(storeNamespaceObject(group), namespace);
    if (labels) namespaces.observe(await client.patch(Namespace, { name }, { metadata: { uid, labels } }));
    const policy = denyAll(name, groupLabels(group.metadata.name));
    const live = networkPolicies.get(objectKey(name, policy.metadata.name));
    const { object, written } = await applier.apply(NetworkPolicy, policy, live);
    if (written) networkPolicies.observe(object);
    return written || labels !== undefined;
  }
}

/** Returns the namespace, with the Pod Security labels of environments. */
export function storeNamespaceObject({ metadata: { name, uid = '' } }: Group): Namespace {
  return environmentNamespaceObject(storeNamespace(name), groupLabels(name), uid);
}

export function denyAll(namespace: string, labels: Record<string, string>): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name: 'default-deny', labels },
    spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
  };
}
