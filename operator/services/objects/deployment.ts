import { LABELS } from '../../../crds/labels.ts';
import type { Deployment } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import type { WorkloadContext } from './input.ts';
import { writesVolumes } from './mounts.ts';
import { objectMeta } from './object-meta.ts';
import { podTemplate } from './pod-template.ts';
import { publicPorts } from './service.ts';

/** Returns the Deployment of a service that runs continuously. `replicas` 0 creates it without running it. */
export function deployment(context: WorkloadContext, service: Service, replicas: number): Deployment {
  const isPublic = context.serviceFile.publicRoutes.some((route) => route.service === service.name);
  const rolls = !writesVolumes(service);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: objectMeta(context, service.name),
    spec: {
      replicas,
      // Earlier revisions are deployed from what Coppice stores, and a kept ReplicaSet would show what pods once showed.
      revisionHistoryLimit: 0,
      // New pods become ready before old ones stop. If they write to the same volume, old ones stop first.
      strategy: rolls
        ? { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
        : { type: 'Recreate' },
      selector: { matchLabels: { [LABELS.service]: service.name } },
      template: podTemplate(context, service, {
        drainSeconds: isPublic && rolls ? context.settings.ingress.drainSeconds : 0,
        ...(context.visits !== undefined && { watchedPorts: publicPorts(context, service.name) }),
      }),
    },
  };
}
