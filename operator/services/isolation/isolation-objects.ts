import { ANNOTATIONS, LABELS } from '../../../crds/labels.ts';
import { dnsEgress, podsOfNamespace, publicNetworks, type EgressSettings } from '../../shared/network-peers.ts';
import type {
  LimitRange,
  Namespace,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
} from '../../../kubernetes/resource-type.ts';

export interface IsolationSettings {
  builderNamespace: string;
  buildkitdPort: number;
  /** TCP ports of Git hosts, for clones, and of the registry's token server, for buildctl. */
  clonePorts: number[];
  egress: EgressSettings;
  quota: Record<string, string>;
  /** For containers without resources of their own. */
  defaultRequests: Record<string, string>;
  defaultLimits: Record<string, string>;
}

/**
 * Returns the environment's namespace. The owner's UID distinguishes it from one that somebody else created with the
 * same name.
 */
export function environmentNamespaceObject(name: string, labels: Record<string, string>, ownerUid: string): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        ...labels,
        'pod-security.kubernetes.io/enforce': 'baseline',
        'pod-security.kubernetes.io/warn': 'baseline',
      },
      annotations: { [ANNOTATIONS.ownerUid]: ownerUid },
    },
  };
}

type Owned = (name: string) => { name: string; namespace: string; labels: Record<string, string> };
type PolicySpec = NonNullable<NetworkPolicy['spec']>;
type Egress = NonNullable<PolicySpec['egress']>[number];

/**
 * Includes private addresses, which `sources.allowedCidrs` can permit, but not the addresses of cloud metadata
 * services, which return machine credentials.
 */
const gitHosts: Egress['to'] = [
  { ipBlock: { cidr: '0.0.0.0/0', except: ['168.63.129.16/32', '169.254.0.0/16'] } },
  { ipBlock: { cidr: '::/0', except: ['fd00:ec2::/32', 'fe80::/10'] } },
  // For some CNIs, such as Cilium, an ipBlock never matches pods.
  { namespaceSelector: {} },
];

export type IsolationObject = ResourceQuota | LimitRange | NetworkPolicy | RoleBinding;

/** The role that members of the group have in the environment's namespace, and their addresses. */
export interface MembersAccess {
  role: string;
  members: readonly string[];
}

/** Returns the RoleBinding by which the members of the group read what runs, and its logs. */
export function membersBinding(owned: Owned, { role, members }: MembersAccess): RoleBinding {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: owned('members'),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: members.map((name) => ({ apiGroup, kind: 'User', name })),
  };
}

/** Returns the objects that isolate an environment: quota, limits and network policies. */
export function isolationObjects(owned: Owned, settings: IsolationSettings): IsolationObject[] {
  const policy = (name: string, spec: PolicySpec): NetworkPolicy => {
    const { labels, ...metadata } = owned(name);
    return {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, labels: { ...labels, [LABELS.isolation]: 'true' } },
      spec,
    };
  };
  // Applied as an empty list: server-side apply would keep rules of others in an omitted field.
  const nothing: [] = [];
  const dns = dnsEgress(settings.egress);
  const internet = { to: publicNetworks(settings.egress) };
  const buildPods = { matchExpressions: [{ key: LABELS.build, operator: 'Exists' }] };
  const servicePods = {
    matchExpressions: [
      { key: LABELS.service, operator: 'Exists' },
      { key: LABELS.offline, operator: 'DoesNotExist' },
    ],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: owned('environment'),
      spec: { hard: settings.quota },
    } satisfies ResourceQuota,
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: owned('environment'),
      spec: {
        limits: [
          {
            type: 'Container',
            default: settings.defaultLimits,
            defaultRequest: settings.defaultRequests,
          },
        ],
      },
    } satisfies LimitRange,
    policy('default-deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: nothing, egress: nothing }),
    // Further policies, from the service file, permit connections between services and to public ports.
    policy('services', {
      podSelector: servicePods,
      policyTypes: ['Ingress', 'Egress'],
      ingress: nothing,
      egress: [dns, internet],
    }),
    // Clones connect to addresses that the operator has checked and pinned; buildctl connects to buildkitd, which
    // pushes images.
    policy('builds', {
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
