import type { EndpointSlice, Pod } from '../../../kubernetes/resource-type.ts';
import { VISITORS_PORT } from '../../../waker-protocol/messages.ts';
import { LABELS } from '../../../crds/labels.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';
import { publicPorts, visitPortsOf } from './service.ts';

/** Labels of Kubernetes on EndpointSlices: the Service they belong to, and who manages them. */
export const SLICE_LABELS = {
  service: 'kubernetes.io/service-name',
  managedBy: 'endpointslice.kubernetes.io/managed-by',
} as const;

/** Value of the label with which Kubernetes' own controllers leave an EndpointSlice alone. */
export const SLICE_MANAGER = 'coppice.dev';

/** Returns the names of the services that visitors reach. */
export function publicServices({ serviceFile }: Pick<WorkloadContext, 'serviceFile'>): string[] {
  return [...new Set(serviceFile.publicRoutes.map(({ service }) => service))].sort();
}

/**
 * Returns the EndpointSlice that puts the waker's pods behind a public service, beside its own pods if it has some. Its
 * ports have the names of the Service's: Ingress controllers and kube-proxy find them by name.
 */
export function wakerSlice(
  context: WorkloadContext,
  service: string,
  wakers: readonly Pod[],
  { isRunning }: { isRunning: boolean },
): EndpointSlice {
  // The pods of a running service serve its other ports.
  const own = isRunning ? [] : publicPorts(context, service).map((port) => `tcp-${port}`);
  const names = [...own, ...visitPortsOf(context, service).map(({ name }) => name)];
  const meta = objectMeta(context, objectName('waker', service));
  const addresses = wakers.flatMap(({ metadata, status }) =>
    status?.podIP === undefined ? [] : [{ metadata, address: status.podIP }],
  );
  const isIpv6 = addresses[0]?.address.includes(':') === true;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...meta,
      labels: {
        ...meta.labels,
        [LABELS.service]: service,
        [SLICE_LABELS.service]: service,
        [SLICE_LABELS.managedBy]: SLICE_MANAGER,
      },
    },
    addressType: isIpv6 ? 'IPv6' : 'IPv4',
    endpoints: addresses
      .filter(({ address }) => address.includes(':') === isIpv6)
      .map(({ metadata, address }) => ({
        addresses: [address],
        // Some Ingress controllers take an absent condition for false.
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: 'Pod', namespace: metadata.namespace, name: metadata.name },
      })),
    ports: names.map((name) => ({ name, port: VISITORS_PORT, protocol: 'TCP' })),
  };
}
