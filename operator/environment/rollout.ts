import type { Deployment } from '../../kubernetes/resource-type.ts';
import type { Service } from '../service-file/schema.ts';

/** The services whose dependencies allow them to run, given which run and which are ready. */
export function startableServices(
  services: readonly Service[],
  started: ReadonlySet<string>,
  ready: ReadonlySet<string>,
): Service[] {
  return services.filter((service) =>
    service.dependsOn.every(({ service: name, condition }) =>
      condition === 'healthy' ? ready.has(name) : started.has(name),
    ),
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
