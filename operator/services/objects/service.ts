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
function reach({ serviceFile }: WorkloadContext, { name, ports, udpPorts }: Service): KubernetesService['spec'] {
  const routed = serviceFile.publicRoutes.filter((route) => route.service === name).map(({ port }) => port);
  const tcp = [...new Set([...ports, ...routed])].sort((a, b) => a - b);
  const listed = [
    ...tcp.map((port) => ({ name: `tcp-${port}`, port, targetPort: port, protocol: 'TCP' })),
    ...udpPorts.map((port) => ({ name: `udp-${port}`, port, targetPort: port, protocol: 'UDP' })),
  ];
  return listed.length === 0 ? { clusterIP: 'None' } : { ports: listed };
}
