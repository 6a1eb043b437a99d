import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { type Applier, hashOf } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteObject } from '../../kubernetes/delete-object.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { Namespace, ResourceQuota, Secret, type ResourceType } from '../../kubernetes/resource-type.ts';
import { createOrGet } from '../create-or-get.ts';
import { Waiting } from '../errors.ts';
import { kindOf, type IsolationStates } from '../isolation/isolation-states.ts';
import { lostLabels } from '../isolation/lost-labels.ts';
import { ISOLATION_TYPES } from '../isolation/object-state.ts';
import { isMadeByCoppice } from '../ownership.ts';
import { adoptedStatus, DEPLOYED_ANNOTATION, newRecord, recordedBuild } from './adoption.ts';
import { environmentNamespaceObject, fenceObjects, type FenceObject, type FenceSettings } from './fence.ts';
import { RestoreLimit } from './restore-limit.ts';
import type { EnvironmentScope } from './scope.ts';

/**
 * On the namespace, once all of the fence was applied: what was applied, and the state it was in after that. While both
 * are so, none of it is applied again. It is made of credentials too, so it stands where no member of a group may read it.
 */
export const FENCE_ANNOTATION = 'coppice.dev/fence';

const recheckMs = 5000;
/** Namespaces of others are not watched. */
const takenRecheckMs = 30_000;

export interface ContentsSettings {
  fence: FenceSettings;
  /** Called when what isolates an environment was changed by somebody else, and was put back. */
  onRestored: (scope: EnvironmentScope, what: string) => void;
  /** The Secret to pull images with, for an environment's namespace. */
  pullSecret: (
    scope: Pick<EnvironmentScope, 'repository' | 'namespace' | 'labels' | 'isTrusted' | 'status'>,
  ) => Promise<Secret>;
}

/** An environment's namespace with its fence: brought, and taken away with everything in it. */
export class Contents {
  readonly #client: ClusterClient;
  readonly #applier: Applier;
  readonly #namespaces: Informer<Namespace>;
  readonly #isolation: Pick<IsolationStates, 'find' | 'applied'>;
  readonly #settings: ContentsSettings;
  readonly #restores = new RestoreLimit();

  constructor(
    client: ClusterClient,
    applier: Applier,
    namespaces: Informer<Namespace>,
    isolation: Pick<IsolationStates, 'find' | 'applied'>,
    settings: ContentsSettings,
  ) {
    this.#client = client;
    this.#applier = applier;
    this.#namespaces = namespaces;
    this.#isolation = isolation;
    this.#settings = settings;
  }

  /** The namespace is there, is this Environment's own, and is fenced before anything runs in it. */
  async ensure(scope: EnvironmentScope): Promise<void> {
    const found = this.#namespaces.get(scope.namespace) ?? (await this.#create(scope));
    if (!isOwn(found, scope)) {
      throw new Waiting(
        'NamespaceTaken',
        `the namespace ${scope.namespace} exists and was not made for this environment: remove it`,
        takenRecheckMs,
      );
    }
    if (!isMadeByCoppice(found)) {
      const label = `${LABELS.managedBy}=${MANAGED_BY}`;
      const message = `the namespace ${scope.namespace} has lost its label ${label}: put it back`;
      throw new Waiting('NamespaceTaken', message, takenRecheckMs);
    }
    if (found.metadata.deletionTimestamp) {
      throw new Waiting('RemovingContents', 'the former contents are still being removed', recheckMs);
    }
    const namespace = await this.#restoreLabels(scope, found);
    await this.#fence(scope, namespace);
    scope.entered(namespace.metadata.uid);
  }

  /**
   * Contents that are there though the status knows nothing of them, as after a restore without status, are taken as
   * the build left them that came up last.
   */
  adopt(scope: EnvironmentScope): void {
    const namespace = this.#namespaces.get(scope.namespace);
    if (scope.status.activation || !namespace || namespace.metadata.deletionTimestamp) return;
    const build = recordedBuild(namespace.metadata.annotations?.[DEPLOYED_ANNOTATION]);
    if (!build || !isOwn(namespace, scope)) return;
    scope.take({ ...adoptedStatus(scope.environment, build, scope.now), namespaceUID: namespace.metadata.uid });
    scope.isPresent = true;
  }

  /** Remembers in the namespace which build came up in it. */
  async record(scope: EnvironmentScope): Promise<void> {
    const namespace = this.#namespaces.get(scope.namespace);
    const { deployed } = scope.status;
    if (!deployed || !namespace || namespace.metadata.deletionTimestamp || !isOwn(namespace, scope)) return;
    const value = newRecord(deployed, namespace.metadata.annotations?.[DEPLOYED_ANNOTATION]);
    if (value === undefined) return;
    const patch = { metadata: { uid: namespace.metadata.uid, annotations: { [DEPLOYED_ANNOTATION]: value } } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }

  /** Deletes the namespace. True when nothing of it is left. */
  async remove(scope: EnvironmentScope): Promise<boolean> {
    const namespace = this.#namespaces.get(scope.namespace) ?? (await this.#find(scope));
    if (!namespace || !isOwn(namespace, scope)) return true;
    await deleteObject(this.#client, Namespace, namespace);
    return false;
  }

  #find(scope: EnvironmentScope): Promise<Namespace | undefined> {
    return this.#client.find(Namespace, { name: scope.namespace });
  }

  #create(scope: EnvironmentScope): Promise<Namespace> {
    return createOrGet(this.#client, this.#namespaces, Namespace, wantedNamespace(scope));
  }

  async #restoreLabels(scope: EnvironmentScope, namespace: Namespace): Promise<Namespace> {
    const labels = lostLabels(wantedNamespace(scope), namespace);
    if (!labels || !this.#mayRestore(scope, `labels ${Object.keys(labels).join(', ')} of the namespace`)) {
      return namespace;
    }
    const { uid, name } = namespace.metadata;
    const restored = await this.#client.patch(Namespace, { name }, { metadata: { uid, labels } });
    this.#namespaces.observe(restored);
    return restored;
  }

  async #fence(scope: EnvironmentScope, namespace: Namespace): Promise<void> {
    const fence = fenceObjects(
      (name) => ({ name, namespace: scope.namespace, labels: scope.labels }),
      this.#settings.fence,
    );
    const secret = await this.#settings.pullSecret(scope);
    const wanted = hashOf({ objects: [...fence, secret] });
    const former = namespace.metadata.annotations?.[FENCE_ANNOTATION];
    const states = this.#isolation.find(fence);
    if (states && former === markOf(wanted, states)) return;
    const isChanged = former?.startsWith(markOf(wanted)) ?? false;
    if (isChanged && !this.#mayRestore(scope, 'quota, limits and network policies')) return;
    // It is not true any more of a fence of which only a part comes to be applied.
    if (former !== undefined) await this.#mark(scope, null);
    const applied = new Map<FenceObject, string>();
    const apply = async (object: FenceObject) => void applied.set(object, await this.#apply(object));
    // Once there is a quota, the API server writes into it whatever it counts: what is counted of the fence comes before it.
    const isQuota = ({ kind }: FenceObject) => kind === ResourceQuota.kind;
    const counted = fence.filter((object) => !isQuota(object)).map(apply);
    await Promise.all([...counted, this.#applier.apply(Secret, secret, undefined)]);
    await Promise.all(fence.filter(isQuota).map(apply));
    await this.#mark(
      scope,
      markOf(
        wanted,
        fence.map((object) => applied.get(object) ?? ''),
      ),
    );
  }

  /** Reports that somebody else changed what isolates the environment; false where that is put back only later. */
  #mayRestore(scope: EnvironmentScope, what: string): boolean {
    const waitMs = this.#restores.take(scope.namespace, scope.now);
    if (waitMs > 0) scope.lookAgainIn(waitMs);
    else this.#settings.onRestored(scope, what);
    return waitMs === 0;
  }

  /** Returns the state that the object is in. */
  async #apply(object: FenceObject): Promise<string> {
    const kind = kindOf(object);
    const type: ResourceType<FenceObject> = ISOLATION_TYPES[kind];
    return this.#isolation.applied(kind, (await this.#applier.apply(type, object, undefined)).object);
  }

  async #mark(scope: EnvironmentScope, fence: string | null): Promise<void> {
    const patch = { metadata: { annotations: { [FENCE_ANNOTATION]: fence } } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }
}

/** `wanted`: the hash of what is applied. Without states: what the mark starts with. */
function markOf(wanted: string, states?: readonly string[]): string {
  return `${wanted}.${states ? hashOf(states) : ''}`;
}

function wantedNamespace({ namespace, labels, uid }: EnvironmentScope): Namespace {
  return environmentNamespaceObject(namespace, labels, uid);
}

function isOwn(namespace: Namespace, scope: EnvironmentScope): boolean {
  const { annotations, labels } = namespace.metadata;
  return annotations?.[ANNOTATIONS.ownerUid] === scope.uid && labels?.[LABELS.environmentUid] === scope.uid;
}
