import { SERVICE_DEFAULTS, type Service, type ServiceFile } from '../../../../service-file/schema.ts';
import type { WorkloadContext, WorkloadSettings } from '../input.ts';

/** Returns a service with only an image, and the given fields. */
export function sampleService(given: Partial<Service> = {}): Service {
  return { ...SERVICE_DEFAULTS, name: 'api', image: 'node:24-slim', ...given };
}

export const SAMPLE_SETTINGS: WorkloadSettings = {
  environmentsUrl: new URL('http://env.localhost:8080'),
  ingress: { className: 'traefik', namespace: 'ingress', annotations: {}, drainSeconds: 3 },
  volumes: { size: '1Gi' },
  jobDeadlineSeconds: 1800,
  defaultRequests: { cpu: '10m', memory: '32Mi' },
  defaultLimits: { memory: '1Gi' },
};

export function sampleContext(
  serviceFile: Partial<ServiceFile>,
  given: Partial<WorkloadContext> = {},
): WorkloadContext {
  return {
    namespace: 'env-x',
    labels: { owner: 'x' },
    id: { group: 'acme', name: 'shop-main' },
    access: 'public',
    serviceFile: { services: [], publicRoutes: [], volumes: [], bundles: [], ...serviceFile },
    images: new Map(),
    hidden: new Map(),
    run: '1',
    imagePullSecrets: ['pull'],
    now: new Date('2026-01-01T00:00:00Z'),
    settings: SAMPLE_SETTINGS,
    ...given,
  };
}
