import type { Version } from '../environment/version.ts';
import type { RolloutProgress } from '../workloads/progress.ts';

/** The version with these services at no replica. */
export function withoutReplicas(version: Version, stopped: ReadonlySet<string>): Version {
  if (stopped.size === 0) return version;
  const services = version.serviceFile.services.map((service) =>
    stopped.has(service.name) ? { ...service, replicas: 0 } : service,
  );
  return { ...version, serviceFile: { ...version.serviceFile, services } };
}

/** That they are stopped, and why, as the status tells it. */
export function tellStopped(progress: RolloutProgress, stopped: ReadonlySet<string>): RolloutProgress {
  if (stopped.size === 0) return progress;
  const message = 'stopped while its volumes are copied';
  return {
    ...progress,
    services: progress.services.map((service) =>
      stopped.has(service.name) ? { ...service, ready: false, message } : service,
    ),
    done: false,
    waitingFor: [...progress.waitingFor, ...[...stopped].map((name) => `${name}: ${message}`)],
  };
}
