import { ANNOTATIONS } from '../../../crds/labels.ts';
import type {
  LimitRange,
  Namespace,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
} from '../../../kubernetes/resource-type.ts';
import { isolationPolicies, type IsolationPolicySettings, type Owned } from './isolation-policies.ts';

export interface IsolationSettings extends IsolationPolicySettings {
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

export type IsolationObject = ResourceQuota | LimitRange | NetworkPolicy | RoleBinding;

export interface ServiceAccountName {
  namespace: string;
  name: string;
}

/** The role that members of the group have in the environment's namespace, their addresses, and the API that reads for them. */
export interface MembersAccess {
  role: string;
  members: readonly string[];
  serviceAccount: ServiceAccountName;
}

/** The role that the API has in the environment's namespace, and its ServiceAccount; absent: it may not use the role now. */
export interface ApiAccess {
  role: string;
  serviceAccount?: ServiceAccountName | undefined;
}

/**
 * Returns the RoleBinding that lets the API connect to the services. It remains without a subject when the code is no
 * longer trusted.
 */
export function apiBinding(owned: Owned, { role, serviceAccount }: ApiAccess): RoleBinding {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: owned('api'),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: serviceAccount ? [{ kind: 'ServiceAccount', ...serviceAccount }] : [],
  };
}

/**
 * Returns the RoleBinding that lets the members of the group read the workloads and their logs, and the API read their
 * Events for members without kubectl.
 */
export function membersBinding(owned: Owned, { role, members, serviceAccount }: MembersAccess): RoleBinding {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: owned('members'),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [
      ...members.map((name) => ({ apiGroup, kind: 'User', name })),
      { kind: 'ServiceAccount', ...serviceAccount },
    ],
  };
}

/** Returns the objects that isolate an environment: quota, limits and network policies. */
export function isolationObjects(owned: Owned, settings: IsolationSettings): IsolationObject[] {
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
    ...isolationPolicies(owned, settings),
  ];
}
