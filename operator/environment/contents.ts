import { ANNOTATIONS, LABELS } from '../../crds/labels.ts';
import type { Applier } from '../../kubernetes/apply.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { hashOf } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { LimitRange, Namespace, NetworkPolicy, ResourceQuota, Secret } from '../../kubernetes/resource-type.ts';
import { Waiting } from '../errors.ts';
import { environmentNamespaceObject, fenceObjects, type FenceSettings } from './fence.ts';
import type { EnvironmentScope } from './scope.ts';

/** On the namespace, once all of the fence was applied: with the same value, none of it is looked at again. */
const FENCE_ANNOTATION = 'coppice.dev/fence';

const recheckMs = 5000;
/** Namespaces of others are not watched. */
const takenRecheckMs = 30_000;

export interface ContentsSettings {
  fence: FenceSettings;
  /** The Secret to pull built images with, for a namespace. */
  pullSecret: (namespace: string, labels: Record<string, string>) => Secret;
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

  /** Deletes the namespace. True when nothing of it is left. */
  async remove(scope: EnvironmentScope): Promise<boolean> {
    const namespace = this.#namespaces.get(scope.namespace) ?? (await this.#find(scope));
    if (!namespace || !isOwn(namespace, scope)) return true;
    if (!namespace.metadata.deletionTimestamp) {
      await deleteIfThere(this.#client, Namespace, { name: scope.namespace }, { uid: namespace.metadata.uid });
    }
    return false;
  }

  #find(scope: EnvironmentScope): Promise<Namespace | undefined> {
    return this.#client.find(Namespace, { name: scope.namespace });
  }

  async #create(scope: EnvironmentScope): Promise<Namespace> {
    try {
      const made = environmentNamespaceObject(scope.namespace, scope.labels, scope.uid);
      const namespace = await this.#client.create(Namespace, made);
      this.#namespaces.observe(namespace);
      return namespace;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#client.get(Namespace, { name: scope.namespace });
    }
  }

  async #fence(scope: EnvironmentScope, namespace: Namespace): Promise<void> {
    const fence = fenceObjects(
      (name) => ({ name, namespace: scope.namespace, labels: scope.labels }),
      this.#settings.fence,
    );
    const secret = this.#settings.pullSecret(scope.namespace, scope.labels);
    const objects = [...fence, secret];
    const hash = hashOf({ objects });
    if (namespace.metadata.annotations?.[FENCE_ANNOTATION] === hash) return;
    const types = { ResourceQuota, LimitRange, NetworkPolicy, Secret } as const;
    for (const object of objects) {
      await this.#applier.apply<typeof object>(types[object.kind as keyof typeof types], object, undefined);
    }
    const patch = { metadata: { annotations: { [FENCE_ANNOTATION]: hash } } };
    this.#namespaces.observe(await this.#client.patch(Namespace, { name: scope.namespace }, patch));
  }
}

function isOwn(namespace: Namespace, scope: EnvironmentScope): boolean {
  const { annotations, labels } = namespace.metadata;
  return annotations?.[ANNOTATIONS.ownerUid] === scope.uid && labels?.[LABELS.environmentUid] === scope.uid;
}
