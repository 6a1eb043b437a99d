import type { Deployment, Pod } from '../../../kubernetes/resource-type.ts';
import type { Dependency, Service } from '../../../service-file/schema.ts';
import { isJob } from '../objects/input.ts';

/** How far services have come, by name. A job that has completed is healthy too. */
export interface Reached {
  /** Set up in the cluster, whether their containers run or not. */
  launched: ReadonlySet<string>;
  /** Services whose containers run, as far as that is known. */
  started: ReadonlySet<string>;
  healthy: ReadonlySet<string>;
  completed: ReadonlySet<string>;
}

const reachedBy = { started: 'started', healthy: 'healthy', completed: 'completed' } as const satisfies Record<
  Dependency['condition'],
  keyof Reached
>;

/**
 * Whether those that depend on a service that was set up may count on its container, as with Compose: without a health
 * check it is up as soon as its container runs; with one that may come much later, and nobody asked to wait for it.
 */
export function isStarted(service: Service, isUp: boolean): boolean {
  return isUp || service.healthcheck !== undefined || isJob(service);
}

/** What a service still waits for. */
export function openDependencies(service: Service, reached: Reached): Dependency[] {
  return service.dependsOn.filter(({ service: name, condition }) => !reached[reachedBy[condition]].has(name));
}

/** The services that are not set up and whose dependencies allow them to. */
export function startableServices(services: readonly Service[], reached: Reached): Service[] {
  return services.filter(
    (service) => !reached.launched.has(service.name) && openDependencies(service, reached).length === 0,
  );
}

/** Every pod of the newest template is available and no older one is left (kubectl rollout status). */
export function isRolledOut(deployment: Deployment): boolean {
  const { metadata, spec, status } = deployment;
  const wanted = spec?.replicas ?? 1;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}

/**
 * Whether a pod of the service is still on its way out, by its Deployment or by its pods: what starts now could connect
 * to it. A Deployment's own count of its pods leaves these out.
 */
export function hasLeavingPods({ status }: Deployment, pods: readonly Pod[]): boolean {
  return (
    (status?.terminatingReplicas ?? 0) > 0 || pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)
  );
}
