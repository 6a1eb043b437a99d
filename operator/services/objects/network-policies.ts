import { slug } from '../../../crds/names.ts';
import { LABELS } from '../../../crds/labels.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { podsOfNamespace } from '../../shared/network-peers.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';

const NETWORK_PREFIX = 'network';
const PUBLIC_PREFIX = 'public';

/** Reports these policies from those that isolation the whole environment. */
export function isServicePolicy({ metadata }: NetworkPolicy): boolean {
  return [NETWORK_PREFIX, PUBLIC_PREFIX].some((prefix) => metadata.name.startsWith(`${prefix}-`));
}

/** On the pods of a network's services. */
function networkLabel(network: string): string {
  const name = slug(network) === network && network.length <= 63 ? network : hashOf(network);
  return `network.coppice.dev/${name}`;
}

/** By these a pod is in its networks. One in none reaches nothing, and nothing reaches it. */
export function networkLabels({ networks }: Service): Record<string, string> {
  if (networks.length === 0) return { [LABELS.offline]: 'true' };
  return Object.fromEntries(networks.map((network) => [networkLabel(network), 'true']));
}

/**
 * What lets an environment's pods talk, beyond what its isolation allows to all: services that share a network to each
 * other, and the Ingress controller to what is public. Whatever is not named here stays shut by the isolation
 * policies's default-deny.
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
  return policy(context, objectName(NETWORK_PREFIX, network), {
    ...members,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [members] }],
    egress: [{ to: [members] }],
  });
}

function publicPolicy(context: WorkloadContext, service: string): NetworkPolicy {
  const { namespace, cidrs = [] } = context.settings.ingress;
  const routes = context.serviceFile.publicRoutes.filter((route) => route.service === service);
  const ports = [...new Set(routes.map(({ port }) => port))].sort((a, b) => a - b);
  return policy(context, objectName(PUBLIC_PREFIX, service), {
    podSelector: { matchLabels: { [LABELS.service]: service } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [podsOfNamespace(namespace), ...cidrs.map((cidr) => ({ ipBlock: { cidr } }))],
        ports: ports.map((port) => ({ protocol: 'TCP', port })),
      },
    ],
  });
}

function policy(context: WorkloadContext, name: string, spec: NonNullable<NetworkPolicy['spec']>): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: objectMeta(context, name),
    spec,
  };
}
