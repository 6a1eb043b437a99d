import { slug } from '../../../crds/names.ts';
import { LABELS } from '../../../crds/labels.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { podsOfNamespace, type Peer } from '../../shared/network-peers.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';
import { publicPorts } from './service.ts';

const networkPrefix = 'network';
const publicPrefix = 'public';

/** Returns whether this is a policy of services, not one that isolates the whole environment. */
export function isServicePolicy({ metadata }: NetworkPolicy): boolean {
  return [networkPrefix, publicPrefix].some((prefix) => metadata.name.startsWith(`${prefix}-`));
}

/** Returns the label of the pods in a network. */
function networkLabel(network: string): string {
  const name = slug(network) === network && network.length <= 63 ? network : hashOf(network);
  return `network.coppice.dev/${name}`;
}

/**
 * Returns the labels that put a service's pods into its networks. Pods without a network can neither connect nor be
 * connected to.
 */
export function networkLabels({ networks }: Service): Record<string, string> {
  if (networks.length === 0) return { [LABELS.offline]: 'true' };
  return Object.fromEntries(networks.map((network) => [networkLabel(network), 'true']));
}

/**
 * Returns the policies that permit connections in addition to the isolation policies: between services that share a
 * network, and from the Ingress controller to public ports. The policy default-deny blocks everything else.
 */
export function networkPolicies(context: WorkloadContext): NetworkPolicy[] {
  const networks = [...new Set(context.serviceFile.services.flatMap((service) => service.networks))].sort();
  const publicServices = [...new Set(context.serviceFile.publicRoutes.map(({ service }) => service))].sort();
  return [
    ...networks.map((network) => networkPolicy(context, network)),
    ...publicServices.map((service) => publicPolicy(context, service)),
  ];
}

function networkPolicy(context: WorkloadContext, network: string): NetworkPolicy {
  const members = { podSelector: { matchLabels: { [networkLabel(network)]: 'true' } } };
  return policy(context, objectName(networkPrefix, network), {
    ...members,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [members] }],
    egress: [{ to: [members] }],
  });
}

function publicPolicy(context: WorkloadContext, service: string): NetworkPolicy {
  const { namespace, cidrs = [] } = context.settings.ingress;
  const ports = publicPorts(context, service);
  return policy(context, objectName(publicPrefix, service), {
    podSelector: { matchLabels: { [LABELS.service]: service } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [podsOfNamespace(namespace), ...cidrs.map((cidr) => ({ ipBlock: { cidr } })), ...wakers(context)],
        ports: ports.map((port) => ({ protocol: 'TCP', port })),
      },
    ],
  });
}

/** The waker forwards the requests that it has held. */
function wakers({ settings: { waker } }: WorkloadContext): Peer[] {
  if (!waker) return [];
  return [{ ...podsOfNamespace(waker.namespace), podSelector: { matchLabels: waker.podLabels } }];
}

function policy(context: WorkloadContext, name: string, spec: NonNullable<NetworkPolicy['spec']>): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: objectMeta(context, name),
    spec,
  };
}
