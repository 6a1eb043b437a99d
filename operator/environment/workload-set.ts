import { LABELS } from '../../crds/labels.ts';
import type { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import {
  Deployment,
  Ingress,
  keyOf,
  objectKey,
  Service,
  type KubernetesObject,
  type Pod,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { podTrouble } from './pod-trouble.ts';
import { isRolledOut, startableServices } from './rollout.ts';
import { deployment, ingress, kubernetesService, type WorkloadInput } from './workloads.ts';

export interface WorkloadCaches {
  deployments: Informer<Deployment>;
  services: Informer<Service>;
  ingresses: Informer<Ingress>;
  pods: Informer<Pod>;
}

export interface RolloutProgress {
  services: { name: string; image?: string; ready: boolean }[];
  /** All services run what they should. */
  done: boolean;
  /** What keeps a service from coming up, as far as it is known; for people. */
  waitingFor: string[];
}

/** The objects of an environment's services: applied, watched until they run, removed when the file no longer names them. */
export class WorkloadSet {
  readonly #client: Pick<ClusterClient, 'delete'>;
  readonly #applier: Applier;
  readonly #caches: WorkloadCaches;

  constructor(client: Pick<ClusterClient, 'delete'>, applier: Applier, caches: WorkloadCaches) {
    this.#client = client;
    this.#applier = applier;
    this.#caches = caches;
  }

  /** Everything the services need, nothing of it running. */
  async setUp(input: WorkloadInput): Promise<void> {
    await this.#applyAddresses(input);
    for (const service of input.serviceFile.services) await this.#applyDeployment(deployment(input, service, 0));
  }

  /** Runs the services, each as soon as those that it depends on allow it; to be called again as they change. */
  async rollOut(input: WorkloadInput): Promise<RolloutProgress> {
    await this.#applyAddresses(input);
    const { services } = input.serviceFile;
    const started = new Set<string>();
    const ready = new Set<string>();
    for (;;) {
      const next = startableServices(services, started, ready).filter(({ name }) => !started.has(name));
      if (next.length === 0) break;
      for (const service of next) {
        const live = await this.#applyDeployment(deployment(input, service, 1));
        started.add(service.name);
        if (isRolledOut(live)) ready.add(service.name);
      }
    }
    return {
      services: services.map(({ name, image }) => ({
        name,
        image: input.images.get(name) ?? image,
        ready: ready.has(name),
      })),
      done: services.every(({ name }) => ready.has(name)),
      waitingFor: services.flatMap(({ name }) => (ready.has(name) ? [] : [this.#describe(input.namespace, name)])),
    };
  }

  /** Deletes what belongs to services that are no longer in the file. */
  async prune(input: WorkloadInput): Promise<void> {
    const named = new Set(input.serviceFile.services.map(({ name }) => name));
    await this.#pruneKind(Deployment, this.#caches.deployments, input.namespace, named);
    await this.#pruneKind(Service, this.#caches.services, input.namespace, named);
    const wanted = ingress(input);
    await this.#pruneKind(Ingress, this.#caches.ingresses, input.namespace, new Set(wanted && [wanted.metadata.name]));
  }

  async #pruneKind<T extends KubernetesObject>(
    type: ResourceType<T>,
    cache: Informer<T>,
    namespace: string,
    named: ReadonlySet<string>,
  ): Promise<void> {
    for (const { metadata } of cache.byIndex('namespace', namespace)) {
      if (named.has(metadata.name) || metadata.deletionTimestamp) continue;
      await deleteIfThere(this.#client, type, { namespace, name: metadata.name }, { uid: metadata.uid });
    }
  }

  async #applyAddresses(input: WorkloadInput): Promise<void> {
    for (const service of input.serviceFile.services) {
      await this.#apply(Service, this.#caches.services, kubernetesService(input, service));
    }
    const wanted = ingress(input);
    if (wanted) await this.#apply(Ingress, this.#caches.ingresses, wanted);
  }

  #applyDeployment(desired: Deployment): Promise<Deployment> {
    return this.#apply(Deployment, this.#caches.deployments, desired);
  }

  async #apply<T extends KubernetesObject>(type: ResourceType<T>, cache: Informer<T>, desired: T): Promise<T> {
    const { object, written } = await this.#applier.apply(type, desired, cache.get(keyOf(desired)));
    if (written) cache.observe(object);
    return object;
  }

  #describe(namespace: string, service: string): string {
    const trouble = this.#caches.pods
      .byIndex('namespace', namespace)
      .filter((pod) => pod.metadata.labels?.[LABELS.service] === service && !pod.metadata.deletionTimestamp)
      .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
      .map(podTrouble)
      .find((found) => found !== undefined);
    const failure = this.#caches.deployments
      .get(objectKey(namespace, service))
      ?.status?.conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True')?.message;
    const why = trouble ?? failure;
    return why === undefined ? service : `${service}: ${why}`;
  }
}
