import type { Deployment, Pod } from '../../../kubernetes/resource-type.ts';
import type { Dependency, Service } from '../../../service-file/schema.ts';
import { isJob } from '../objects/input.ts';

/** Progress of services, by name. A completed job counts as healthy. */
export interface Reached {
  /** Services created in the cluster, whether or not their containers run. */
  launched: ReadonlySet<string>;
  /** Services whose containers are known to run. */
  started: ReadonlySet<string>;
  healthy: ReadonlySet<string>;
  completed: ReadonlySet<string>;
}

const reachedBy = { started: 'started', healthy: 'healthy', completed: 'completed' } as const satisfies Record<
  Dependency['condition'],
  keyof Reached
>;

/**
 * Returns whether dependents can start that require only a started service (`service_started`), as in Compose: without
 * a health check it is started when its container runs; with one, when it has been created, because becoming healthy
 * may take long and was not requested.
 */
export function isStarted(service: Service, isRunning: boolean): boolean {
  return isRunning || service.healthcheck !== undefined || isJob(service);
}

/** Returns the dependencies that a service still waits for. */
export function openDependencies(service: Service, reached: Reached): Dependency[] {
  return service.dependsOn.filter(({ service: name, condition }) => !reached[reachedBy[condition]].has(name));
}

/** Returns the services that are not created yet and whose dependencies are met. */
export function startableServices(services: readonly Service[], reached: Reached): Service[] {
  return services.filter(
    (service) => !reached.launched.has(service.name) && openDependencies(service, reached).length === 0,
  );
}

/**
 * Returns the services with the dependencies of jobs that they depend on: a job that has completed before does not run
 * again, but what it needed is still needed.
 */
export function withDependenciesOfJobs(services: readonly Service[]): Service[] {
  const jobs = new Map(services.filter(isJob).map((job) => [job.name, job]));
  const all = (service: Service, seen: ReadonlySet<string>): Dependency[] =>
    service.dependsOn.flatMap((dependency) => {
      const job = jobs.get(dependency.service);
      return job && !seen.has(job.name) ? [dependency, ...all(job, new Set([...seen, job.name]))] : [dependency];
    });
  return services.map((service) => ({ ...service, dependsOn: all(service, new Set()) }));
}

/** Returns the services that can be stopped: nothing that depends on them still runs. */
export function stoppableServices(
  services: readonly Service[],
  { asked, stopped }: Record<'asked' | 'stopped', ReadonlySet<string>>,
): Service[] {
  const needed = new Set(
    services
      .filter(({ name }) => !stopped.has(name))
      .flatMap(({ dependsOn }) => dependsOn.map(({ service }) => service)),
  );
  return services.filter(({ name }) => !asked.has(name) && !needed.has(name));
}

/**
 * Returns whether every pod of the newest template is available and no older one remains, as `kubectl rollout status`.
 */
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
 * Returns whether a pod of the service is still terminating: a dependent that starts now could connect to it. The
 * Deployment's own count omits terminating pods.
 */
export function hasLeavingPods({ status }: Deployment, pods: readonly Pod[]): boolean {
  return (
    (status?.terminatingReplicas ?? 0) > 0 || pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)
  );
}
