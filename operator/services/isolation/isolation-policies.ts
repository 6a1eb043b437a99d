import { LABELS } from '../../../crds/labels.ts';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import {
  anyAddress,
  dnsEgress,
  podsOfNamespace,
  publicNetworks,
  type EgressSettings,
} from '../../shared/network-peers.ts';

export interface IsolationPolicySettings {
  builderNamespace: string;
  buildkitdPort: number;
  /** TCP ports of Git hosts, for clones, and of the registry's token server, for buildctl. */
  clonePorts: number[];
  egress: EgressSettings;
}

/** Returns the metadata of an object of this name in the environment's namespace. */
export type Owned = (name: string) => { name: string; namespace: string; labels: Record<string, string> };
type PolicySpec = NonNullable<NetworkPolicy['spec']>;
type Egress = NonNullable<PolicySpec['egress']>[number];

/** Includes private addresses, which `sources.allowedCidrs` can permit. */
const gitHosts: Egress['to'] = [
  ...anyAddress(),
  // For some CNIs, such as Cilium, an ipBlock never matches pods.
  { namespaceSelector: {} },
];

const buildPods = { matchExpressions: [{ key: LABELS.build, operator: 'Exists' }] };
const servicePods = {
  matchExpressions: [
    { key: LABELS.service, operator: 'Exists' },
    { key: LABELS.offline, operator: 'DoesNotExist' },
  ],
};
// Means the same as an omitted field. Omitting it would change the hash, and so replace the policies of all existing
// environments.
const nothing: [] = [];

/** Returns the network policies that isolate an environment, before those of its service file. */
export function isolationPolicies(owned: Owned, settings: IsolationPolicySettings): NetworkPolicy[] {
  const dns = dnsEgress(settings.egress);
  const internet = { to: publicNetworks(settings.egress) };
  return [
    policy(owned, 'default-deny', {
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
      ingress: nothing,
      egress: nothing,
    }),
    // Further policies, from the service file, permit connections between services and to public ports.
    policy(owned, 'services', {
      podSelector: servicePods,
      policyTypes: ['Ingress', 'Egress'],
      ingress: nothing,
      egress: [dns, internet],
    }),
    // Clones connect to addresses that the operator has checked and pinned; buildctl connects to buildkitd, which
    // pushes images.
    policy(owned, 'builds', {
      podSelector: buildPods,
      policyTypes: ['Ingress', 'Egress'],
      ingress: nothing,
      egress: [
        dns,
        {
          to: [podsOfNamespace(settings.builderNamespace)],
          ports: [{ protocol: 'TCP', port: settings.buildkitdPort }],
        },
        { to: gitHosts, ports: settings.clonePorts.map((port) => ({ protocol: 'TCP', port })) },
      ],
    }),
  ];
}

function policy(owned: Owned, name: string, spec: PolicySpec): NetworkPolicy {
  const { labels, ...metadata } = owned(name);
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, labels: { ...labels, [LABELS.isolation]: 'true' } },
    spec,
  };
}
