import type { Revision } from '../revision/revision.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';

/** Returns the revision with these services scaled to zero. */
export function withoutReplicas(revision: Revision, stopped: ReadonlySet<string>): Revision {
  if (stopped.size === 0) return revision;
  const services = revision.serviceFile.services.map((service) =>
    stopped.has(service.name) ? { ...service, replicas: 0 } : service,
  );
  return { ...revision, serviceFile: { ...revision.serviceFile, services } };
}

/** Reports these services as stopped, with the reason. */
export function reportStopped(progress: RolloutProgress, stopped: ReadonlySet<string>): RolloutProgress {
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
