import { LABELS } from '../../crds/labels.ts';
import type { Deployment, Ingress, Service as KubernetesService } from '../../kubernetes/resource-type.ts';
import { literal } from '../literal.ts';
import type { Healthcheck, PublicRoute, Service, ServiceFile } from '../service-file/schema.ts';

export interface WorkloadInput {
  namespace: string;
  labels: Record<string, string>;
  serviceFile: ServiceFile;
  /** The image of every service. */
  images: ReadonlyMap<string, string>;
  host: string;
  ingressClassName: string | undefined;
  /** The Secret with the registry's credentials, to pull with. */
  imagePullSecret: string;
}

/** What each service of the file is in Kubernetes. Its name there is its host name for the others, as in Compose. */
export function kubernetesService(input: WorkloadInput, service: Service): KubernetesService {
  const headless = service.ports.length === 0;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: objectMeta(input, service.name),
    spec: {
      selector: { [LABELS.service]: service.name },
      // Compose lets services reach one another on any port; without ports to list, a headless Service does so too.
      ...(headless
        ? { clusterIP: 'None' }
        : { ports: service.ports.map((port) => ({ name: `tcp-${port}`, port, targetPort: port, protocol: 'TCP' })) }),
    },
  };
}

/** `replicas` 0 sets the service up without running it. */
export function deployment(input: WorkloadInput, service: Service, replicas: 0 | 1): Deployment {
  const labels = { ...input.labels, [LABELS.service]: service.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: objectMeta(input, service.name),
    spec: {
      replicas,
      revisionHistoryLimit: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: { [LABELS.service]: service.name } },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 10,
          imagePullSecrets: [{ name: input.imagePullSecret }],
          containers: [container(input, service)],
        },
      },
    },
  };
}

function container(input: WorkloadInput, service: Service) {
  const publicPort = input.serviceFile.publicRoutes.find((route) => route.service === service.name)?.port;
  return {
    name: service.name,
    image: input.images.get(service.name) ?? service.image ?? '',
    ...(service.entrypoint && { command: service.entrypoint.map(literal) }),
    ...(service.command && { args: service.command.map(literal) }),
    env: Object.entries(service.environment).map(([name, value]) => ({ name, value: literal(value) })),
    ports: service.ports.map((port) => ({ containerPort: port, protocol: 'TCP' })),
    ...probes(service.healthcheck, publicPort),
    securityContext: { allowPrivilegeEscalation: false },
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/**
 * A health check is asked every second until it first succeeds, then at its own interval. Without one, what is public
 * counts as ready when its port takes connections: no request is led to a server that does not listen yet.
 */
function probes(healthcheck: Healthcheck | undefined, publicPort: number | undefined) {
  if (healthcheck) {
    const { command, intervalSeconds, timeoutSeconds, retries, startPeriodSeconds } = healthcheck;
    const exec = { command };
    const patience = startPeriodSeconds + intervalSeconds * retries;
    return {
      startupProbe: { exec, timeoutSeconds, periodSeconds: 1, failureThreshold: Math.max(patience, 1) },
      readinessProbe: { exec, timeoutSeconds, periodSeconds: intervalSeconds, failureThreshold: retries },
    };
  }
  if (publicPort === undefined) return {};
  return { readinessProbe: { tcpSocket: { port: publicPort }, periodSeconds: 1, failureThreshold: 3 } };
}

/** One host for the environment; undefined when nothing of it is public. */
export function ingress(input: WorkloadInput): Ingress | undefined {
  const { publicRoutes } = input.serviceFile;
  if (publicRoutes.length === 0) return undefined;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: objectMeta(input, 'web'),
    spec: {
      ...(input.ingressClassName && { ingressClassName: input.ingressClassName }),
      rules: [{ host: input.host, http: { paths: publicRoutes.map(ingressPath) } }],
    },
  };
}

function ingressPath(route: PublicRoute) {
  return {
    path: route.path,
    pathType: 'Prefix',
    backend: { service: { name: route.service, port: { number: route.port } } },
  };
}

function objectMeta(input: WorkloadInput, name: string) {
  return { name, namespace: input.namespace, labels: input.labels };
}
