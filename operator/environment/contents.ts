import { ANNOTATIONS, LABELS } from '../../crds/labels.ts';
import { type Applier, hashOf } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteObject } from '../../kubernetes/delete-object.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { LimitRange, Namespace, NetworkPolicy, ResourceQuota, Secret } from '../../kubernetes/resource-type.ts';
import { createOrGet } from '../create-or-get.ts';
import { Waiting } from '../errors.ts';
import { adoptedStatus, DEPLOYED_ANNOTATION, newRecord, recordedBuild } from './adoption.ts';
import { environmentNamespaceObject, fenceObjects, type FenceObject, type FenceSettings } from './fence.ts';
import type { EnvironmentScope } from './scope.ts';

/**
 * On the namespace, once all of the fence was applied: with the same value, none of it is looked at again. It is made of
 * credentials too, so it stands where no member of a group may read it.
 */
export const FENCE_ANNOTATION = 'coppice.dev/fence';

const recheckMs = 5000;
/** Namespaces of others are not watched. */
const takenRecheckMs = 30_000;

export interface ContentsSettings {
  fence: FenceSettings;
  /** The Secret to pull images with, for an environment's namespace. */
  pullSecret: (scope: Pick<EnvironmentScope, 'repository' | 'namespace' | 'labels' | 'isTrusted'>) => Promise<Secret>;
}

/** An environment's namespace with its fence: brought, and taken away with everything in it. */
export class Contents {
  readonly #client: ClusterClient;
  readonly #applier: Applier;
  readonly #namespaces: Informer<Namespace>;
  readonly #settings: ContentsSettings;

  constructor(client: ClusterClient, applier: Applier, namespaces: Informer<Namespace>, settings: ContentsSettings) {
    this.#client = client;
    this.#applier = applier;
    this.#namespaces = namespaces;
    this.#settings = settings;
  }

  /** The namespace is there, is this Environment's own, and is fenced before anything runs in it. */
  async ensure(scope: EnvironmentScope): Promise<void> {
    const namespace = this.#namespaces.get(scope.namespace) ?? (await this.#create(scope));
    if (!isOwn(namespace, scope)) {
      throw new Waiting(
        'NamespaceTaken',
        `the namespace ${scope.namespace} exists and was not made for this environment: remove it`,
        takenRecheckMs,
      );
    }
    if (namespace.metadata.deletionTimestamp) {
      throw new Waiting('RemovingContents', 'the former contents are still being removed', recheckMs);
    }
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
    const made = environmentNamespaceObject(scope.namespace, scope.labels, scope.uid);
    return createOrGet(this.#client, this.#namespaces, Namespace, made);
  }

  async #fence(scope: EnvironmentScope, namespace: Namespace): Promise<void> {
    const fence = fenceObjects(
      (name) => ({ name, namespace: scope.namespace, labels: scope.labels }),
      this.#settings.fence,
    );
    const secret = await this.#settings.pullSecret(scope);
    const objects = [...fence, secret];
    const hash = hashOf({ objects });
    const former = namespace.metadata.annotations?.[FENCE_ANNOTATION];
    if (former === hash) return;
    // It is not true any more of a fence of which only a part comes to be applied.
    if (former !== undefined) await this.#mark(scope, null);
    // Once there is a quota, the API server writes into it whatever it counts: what is counted of the fence comes before it.
    const isQuota = ({ kind }: FenceObject | Secret) => kind === ResourceQuota.kind;
    for (const some of [objects.filter((object) => !isQuota(object)), objects.filter(isQuota)]) {
      await Promise.all(some.map((object) => this.#apply(object)));
    }
    await this.#mark(scope, hash);
  }

  #apply(object: FenceObject | Secret): Promise<unknown> {
    const types = { ResourceQuota, LimitRange, NetworkPolicy, Secret } as const;
    return this.#applier.apply<typeof object>(types[object.kind as keyof typeof types], object, undefined);
  }

  async #mark(scope: EnvironmentScope, fence: string | null): Promise<void> {
    const patch = { metadata: { annotations: { [FENCE_ANNOTATION]: fence } } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }
}

function isOwn(namespace: Namespace, scope: EnvironmentScope): boolean {
  const { annotations, labels } = namespace.metadata;
  return annotations?.[ANNOTATIONS.ownerUid] === scope.uid && labels?.[LABELS.environmentUid] === scope.uid;
}
