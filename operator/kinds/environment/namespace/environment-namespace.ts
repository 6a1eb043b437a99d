import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../../../crds/labels.ts';
import { type Applier, hashOf } from '../../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import { deleteObject } from '../../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { Namespace, ResourceQuota, Secret, type ResourceType } from '../../../../kubernetes/resource-type.ts';
import { isInvalid } from '../../../../kubernetes/api-error.ts';
import { createOrGet } from '../../../shared/create-or-get.ts';
import { Waiting } from '../../../shared/errors.ts';
import { keyedHash } from '../../../shared/hash-key.ts';
import { kindOf, type IsolationStates } from '../../../services/isolation/isolation-states.ts';
import { lostLabels } from '../../../services/isolation/lost-labels.ts';
import { ISOLATION_TYPES } from '../../../services/isolation/object-state.ts';
import { RestoreLimit } from '../../../services/isolation/restore-limit.ts';
import { isMadeByCoppice } from '../../../../crds/ownership.ts';
import { adoptedStatus, DEPLOYED_ANNOTATION, newRecord, recordedBuild } from './adoption.ts';
import {
  apiBinding,
  environmentNamespaceObject,
  isolationObjects,
  membersBinding,
  type ApiAccess,
  type IsolationObject,
  type IsolationSettings,
  type MembersAccess,
} from '../../../services/isolation/isolation-objects.ts';
import { type ContentsCondition, type ContentsField, enteredNamespace } from '../scope/contents.ts';
import type { Contribution } from '../scope/contribution.ts';
import { type PhaseResult, soonest } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { settled } from '../../../shared/settled.ts';

/**
 * Annotation of the namespace, set once all isolation policies are applied: a hash of them, and the state that they
 * were in. While both match, nothing is applied again.
 */
export const ISOLATION_ANNOTATION = 'coppice.dev/isolation';

/**
 * Annotation of the namespace: a hash of the applied pull Secret, which is renewed apart from the policies. The hash
 * covers credentials, and more people read namespaces than Secrets: it has a key, so that nobody can test guesses.
 */
export const PULL_SECRET_ANNOTATION = 'coppice.dev/pull-secret';

/**
 * Annotation of a namespace whose pods have never shown secret values. An older Coppice created namespaces without it, in
 * which pods and Jobs may still show some; members cannot read these.
 */
export const HIDES_VALUES_ANNOTATION = 'coppice.dev/hides-values';

const recheckMs = 5000;
const restorable = 'quota, limits, network policies or RoleBinding';
/** Namespaces of others are not watched. */
const takenRecheckMs = 30_000;

export interface EnvironmentNamespaceSettings {
  isolation: IsolationSettings;
  /** Returns the access of the group's members; undefined if they have none. */
  membersAccess: (scope: Pick<EnvironmentScope, 'id'>) => MembersAccess | undefined;
  /** Returns the access of the API to the services; undefined if the installation has no shells. */
  apiAccess: (scope: Pick<EnvironmentScope, 'isTrusted'>) => ApiAccess | undefined;
  /** Called when a changed isolation policy was restored. */
  onRestored: (scope: EnvironmentScope, what: string) => void;
  /** Returns the environment's pull Secret; `renewAt`: when its credentials are replaced. */
  pullSecret: (
    scope: Pick<EnvironmentScope, 'uid' | 'repository' | 'namespace' | 'labels' | 'isTrusted' | 'status'>,
  ) => Promise<{ secret: Secret; renewAt?: Date | undefined }>;
  /** Returns the key of hashes over secret values. */
  hashKey: () => Promise<Uint8Array>;
}

interface WantedPullSecret {
  secret: Secret;
  hash: string;
  /** Whether it is to be applied although no isolation policy is. */
  isDue: boolean;
  /** When its credentials are replaced, in milliseconds. */
  requeueAfterMs?: number | undefined;
}

export type NamespaceResult = PhaseResult<ContentsField | 'activation', ContentsCondition>;

/** Manages an environment's namespace and its isolation policies. */
export class EnvironmentNamespace {
  readonly #client: ClusterClient;
  readonly #applier: Applier;
  readonly #namespaces: Informer<Namespace>;
  readonly #isolation: Pick<IsolationStates, 'find' | 'applied'>;
  readonly #settings: EnvironmentNamespaceSettings;
  readonly #restores = new RestoreLimit();

  constructor(
    client: ClusterClient,
    applier: Applier,
    namespaces: Informer<Namespace>,
    isolation: Pick<IsolationStates, 'find' | 'applied'>,
    settings: EnvironmentNamespaceSettings,
  ) {
    this.#client = client;
    this.#applier = applier;
    this.#namespaces = namespaces;
    this.#isolation = isolation;
    this.#settings = settings;
  }

  /** Ensures that the namespace exists, belongs to this Environment, and is isolated before anything runs in it. */
  async ensure(scope: EnvironmentScope): Promise<NamespaceResult> {
    const found = this.#namespaces.get(scope.namespace) ?? (await this.#create(scope));
    if (!isOwn(found, scope)) {
      throw new Waiting(
        'NamespaceTaken',
        `the namespace ${scope.namespace} exists and was not created for this environment. Delete it`,
        takenRecheckMs,
      );
    }
    if (!isMadeByCoppice(found)) {
      const label = `${LABELS.managedBy}=${MANAGED_BY}`;
      const message = `the namespace ${scope.namespace} has lost its label ${label}. Restore it`;
      throw new Waiting('NamespaceTaken', message, takenRecheckMs);
    }
    if (found.metadata.deletionTimestamp) {
      throw new Waiting('RemovingContents', 'the previous contents are still being deleted', recheckMs);
    }
    const { namespace, requeueAfterMs } = await this.#restoreLabels(scope, found);
    const pull = await this.#wantedPullSecret(scope, namespace);
    const restored = await this.#applyIsolation(scope, namespace, pull);
    const entered = enteredNamespace(scope.status, namespace.metadata.uid);
    return { ...entered, requeueAfterMs: soonest(requeueAfterMs, restored.requeueAfterMs, pull.requeueAfterMs) };
  }

  /** Renews the credentials of an environment that wakes, before its pods pull with them. */
  async renewPullSecret(scope: EnvironmentScope): Promise<void> {
    const namespace = this.#namespaces.get(scope.namespace);
    if (namespace) await this.#applyPullSecret(scope, await this.#wantedPullSecret(scope, namespace));
  }

  /**
   * Adopts existing contents that the status does not mention, as after a restore without status, in the state of the
   * last deployed build.
   */
  adopt(scope: EnvironmentScope): Contribution {
    const namespace = this.#namespaces.get(scope.namespace);
    if (scope.status.activation || !namespace || namespace.metadata.deletionTimestamp) return {};
    const build = recordedBuild(namespace.metadata.annotations?.[DEPLOYED_ANNOTATION]);
    if (!build || !isOwn(namespace, scope)) return {};
    const status = { ...adoptedStatus(scope.environment, build, scope.now), namespaceUID: namespace.metadata.uid };
    return { status, observed: { isPresent: true } };
  }

  /** Records the deployed build in the namespace. */
  async record(scope: EnvironmentScope): Promise<void> {
    const namespace = this.#namespaces.get(scope.namespace);
    const { deployed } = scope.status;
    if (!deployed || !namespace || namespace.metadata.deletionTimestamp || !isOwn(namespace, scope)) return;
    const value = newRecord(deployed, namespace.metadata.annotations?.[DEPLOYED_ANNOTATION]);
    if (value === undefined) return;
    const patch = { metadata: { uid: namespace.metadata.uid, annotations: { [DEPLOYED_ANNOTATION]: value } } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }

  /**
   * Deletes the namespace. Returns true once it is gone. One that the watch does not report, as it has lost its labels, is
   * looked for before the Environment ends, and if the status records it or, as after a restore, records nothing: not at
   * each start for every empty one.
   */
  async remove(scope: EnvironmentScope): Promise<boolean> {
    const isLast = scope.environment.metadata.deletionTimestamp !== undefined;
    const isUnknown = scope.environment.status?.observedGeneration === undefined;
    const watched = this.#namespaces.get(scope.namespace);
    const mustFind = isLast || isUnknown || scope.isPresent;
    const namespace = watched ?? (mustFind ? await this.#find(scope) : undefined);
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

  async #restoreLabels(
    scope: EnvironmentScope,
    namespace: Namespace,
  ): Promise<PhaseResult<never, never> & { namespace: Namespace }> {
    const labels = lostLabels(wantedNamespace(scope), namespace);
    if (!labels) return { namespace };
    const requeueAfterMs = this.#restoreAfterMs(scope, `labels ${Object.keys(labels).join(', ')} of the namespace`);
    if (requeueAfterMs > 0) return { namespace, requeueAfterMs };
    const { uid, name } = namespace.metadata;
    const restored = await this.#client.patch(Namespace, { name }, { metadata: { uid, labels } });
    this.#namespaces.observe(restored);
    return { namespace: restored };
  }

  /**
   * Returns the pull Secret to apply. One that exists is not renewed while the environment sleeps: no pod is started,
   * and waking renews it. The hash of an older Coppice had no key, and does not stay even then.
   */
  async #wantedPullSecret(scope: EnvironmentScope, { metadata }: Namespace): Promise<WantedPullSecret> {
    const former = metadata.annotations?.[PULL_SECRET_ANNOTATION];
    const { secret, renewAt } = await this.#settings.pullSecret(scope);
    const hash = keyedHash(await this.#settings.hashKey(), secret);
    if (scope.isAsleep && former?.length === hash.length) return { secret, hash, isDue: false };
    const requeueAfterMs = renewAt && Math.max(1, renewAt.getTime() - scope.now.getTime());
    return { secret, hash, isDue: former !== hash, requeueAfterMs };
  }

  async #applyPullSecret(scope: EnvironmentScope, { secret, hash, isDue }: WantedPullSecret): Promise<void> {
    if (!isDue) return;
    await this.#applier.replace(Secret, secret, { isNew: false });
    await this.#annotate(scope, { [PULL_SECRET_ANNOTATION]: hash });
  }

  async #applyIsolation(
    scope: EnvironmentScope,
    namespace: Namespace,
    pull: WantedPullSecret,
  ): Promise<PhaseResult<never, never>> {
    const isolation = this.#wantedObjects(scope, namespace);
    const wanted = hashOf({ objects: isolation });
    const former = namespace.metadata.annotations?.[ISOLATION_ANNOTATION];
    const states = this.#isolation.find(isolation);
    const isIntact = states !== undefined && former === markOf(wanted, states);
    const isChanged = !isIntact && former?.startsWith(markOf(wanted)) === true;
    const requeueAfterMs = isChanged ? this.#restoreAfterMs(scope, restorable) : 0;
    if (isIntact || requeueAfterMs > 0) {
      await this.#applyPullSecret(scope, pull);
      return requeueAfterMs > 0 ? { requeueAfterMs } : {};
    }
    // The mark must not stay on a namespace whose policies are only partly applied.
    if (former !== undefined) await this.#annotate(scope, { [ISOLATION_ANNOTATION]: null });
    const applied = new Map<IsolationObject, string>();
    const isNew = former === undefined;
    const apply = async (object: IsolationObject) => void applied.set(object, await this.#apply(object, isNew));
    // The API server updates a quota's status for everything that it counts, so the counted objects are applied before it.
    const isQuota = ({ kind }: IsolationObject) => kind === ResourceQuota.kind;
    const counted = isolation.filter((object) => !isQuota(object)).map(apply);
    await settled<unknown>([...counted, this.#applier.replace(Secret, pull.secret, { isNew })]);
    await settled(isolation.filter(isQuota).map(apply));
    const mark = markOf(
      wanted,
      isolation.map((object) => applied.get(object) ?? ''),
    );
    await this.#annotate(scope, { [ISOLATION_ANNOTATION]: mark, [PULL_SECRET_ANNOTATION]: pull.hash });
    return {};
  }

  #wantedObjects(scope: EnvironmentScope, { metadata }: Namespace): IsolationObject[] {
    const owned = (name: string) => ({ name, namespace: scope.namespace, labels: scope.labels });
    const access = metadata.annotations?.[HIDES_VALUES_ANNOTATION] && this.#settings.membersAccess(scope);
    const api = this.#settings.apiAccess(scope);
    return [
      ...isolationObjects(owned, this.#settings.isolation),
      ...(access ? [membersBinding(owned, access)] : []),
      ...(api ? [apiBinding(owned, api)] : []),
    ];
  }

  /** Returns in how many milliseconds a changed policy can be restored; 0, and reports it, if it can be now. */
  #restoreAfterMs(scope: EnvironmentScope, what: string): number {
    const waitMs = this.#restores.take(scope.namespace, scope.now);
    if (waitMs === 0) this.#settings.onRestored(scope, what);
    return waitMs;
  }

  /** Makes the object exactly as it is wanted, without what others added, and returns its state. */
  async #apply(object: IsolationObject, isNew: boolean): Promise<string> {
    const kind = kindOf(object);
    const type: ResourceType<IsolationObject> = ISOLATION_TYPES[kind];
    try {
      return this.#isolation.applied(kind, (await this.#applier.replace(type, object, { isNew })).object);
    } catch (error) {
      // The role of a RoleBinding cannot be changed, so one with another role is somebody else's.
      if (kind !== 'RoleBinding' || !isInvalid(error)) throw error;
      const { namespace = '', name } = object.metadata;
      const message = `the RoleBinding ${name} in the namespace ${namespace} was not created by Coppice. Rename it`;
      throw new Waiting('RoleBindingTaken', message, takenRecheckMs, { cause: error });
    }
  }

  async #annotate(scope: EnvironmentScope, annotations: Record<string, string | null>): Promise<void> {
    const patch = { metadata: { annotations } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }
}

/** `wanted`: the hash of the applied objects. Without states, returns the prefix of the mark. */
function markOf(wanted: string, states?: readonly string[]): string {
  return `${wanted}.${states ? hashOf(states) : ''}`;
}

function wantedNamespace({ namespace, labels, uid }: EnvironmentScope): Namespace {
  const { metadata, ...wanted } = environmentNamespaceObject(namespace, labels, uid);
  const annotations = { ...metadata.annotations, [HIDES_VALUES_ANNOTATION]: 'true' };
  return { ...wanted, metadata: { ...metadata, annotations } };
}

function isOwn(namespace: Namespace, scope: EnvironmentScope): boolean {
  const { annotations, labels } = namespace.metadata;
  return annotations?.[ANNOTATIONS.ownerUid] === scope.uid && labels?.[LABELS.environmentUid] === scope.uid;
}
