import { LABELS } from '../../../crds/labels.ts';
import type { Service as KubernetesService } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { isJob, type WorkloadContext } from './input.ts';
import { objectMeta } from './object-meta.ts';

/** Returns one Kubernetes Service for each name of a service: as in Compose, the names are its host names. */
export function kubernetesServices(context: WorkloadContext, service: Service): KubernetesService[] {
  if (isJob(service)) return [];
  return hostNames(service).map((name) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: objectMeta(context, name),
    spec: { selector: { [LABELS.service]: service.name }, ...reach(context, service) },
  }));
}

function hostNames({ name, aliases }: Service): string[] {
  return [...new Set([name, ...aliases])];
}

/**
 * Returns the Service's ports. In Compose services can connect on any port; without listed ports, a headless Service
 * permits that too.
 */
function reach(context: WorkloadContext, { name, ports, udpPorts }: Service): KubernetesService['spec'] {
  const tcp = [...new Set([...ports, ...publicPorts(context, name)])].sort((a, b) => a - b);
  const listed = [
    ...tcp.map((port) => ({ name: `tcp-${port}`, port, targetPort: port, protocol: 'TCP' })),
    ...visitPorts(context, name, tcp).map(({ name: visits, port, of }) => ({
      ...{ name: visits, port, protocol: 'TCP' },
      // No container has a port of this name, so Kubernetes puts no pod behind it.
      targetPort: context.visits === 'watched' ? visits : of,
    })),
    ...udpPorts.map((port) => ({ name: `udp-${port}`, port, targetPort: port, protocol: 'UDP' })),
  ];
  return listed.length === 0 ? { clusterIP: 'None' } : { ports: listed };
}

/** Returns the ports of a service that visitors reach, in order; none if it is not public. */
export function publicPorts({ serviceFile }: Pick<WorkloadContext, 'serviceFile'>, service: string): number[] {
  const ports = serviceFile.publicRoutes.filter((route) => route.service === service).map(({ port }) => port);
  return [...new Set(ports)].sort((a, b) => a - b);
}

/** A port of a Service for visitors alone, beside the one that the environment's own services use. */
export interface VisitPort {
  name: string;
  port: number;
  /** The public port. */
  of: number;
}

const firstVisitPort = 20_000;

/** Returns the ports that Ingresses lead to where visits are watched for. @param taken the Service's other ports */
function visitPorts(context: WorkloadContext, service: string, taken: readonly number[]): VisitPort[] {
  if (context.visits === undefined) return [];
  const used = new Set(taken);
  return publicPorts(context, service).map((of) => {
    let port = firstVisitPort;
    while (used.has(port)) port++;
    used.add(port);
    return { name: `visits-${of}`, port, of };
  });
}

/** Returns the visit ports of a public service; none where visits are not watched for. */
export function visitPortsOf(context: WorkloadContext, service: string): VisitPort[] {
  const { ports = [] } = context.serviceFile.services.find(({ name }) => name === service) ?? {};
  return visitPorts(context, service, [...ports, ...publicPorts(context, service)]);
}

/** Returns the port of a Service that visitors are led to. */
export function visitedPort(context: WorkloadContext, service: string, port: number): number {
  return visitPortsOf(context, service).find(({ of }) => of === port)?.port ?? port;
}
