import { hashOf } from '../../../kubernetes/apply.ts';
import {
  LimitRange,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  type KubernetesObject,
} from '../../../kubernetes/resource-type.ts';

/** The kinds that isolate an environment's namespace, and admit the members of its group. */
export const ISOLATION_TYPES = { NetworkPolicy, LimitRange, ResourceQuota, RoleBinding } as const;
export type IsolationKind = keyof typeof ISOLATION_TYPES;

/** An object reduced to its name, version and state, to save memory: each environment's namespace has six of them. */
export interface ObjectState extends KubernetesObject {
  /** Changes whenever the object's spec is changed. */
  state: string;
}

/** Reduces an object to its state; returns a reduced one unchanged. */
export function reduced(kind: IsolationKind, object: KubernetesObject | ObjectState): ObjectState {
  if ('state' in object) return object;
  const { name, namespace, resourceVersion } = object.metadata;
  const metadata = { name: sharedNames.get(name) ?? name, namespace, resourceVersion };
  const { apiVersion } = apiVersions[kind];
  return { apiVersion, kind, metadata, state: stateOf(kind, object) };
}

const apiVersions = {
  NetworkPolicy: { apiVersion: 'networking.k8s.io/v1' },
  LimitRange: { apiVersion: 'v1' },
  ResourceQuota: { apiVersion: 'v1' },
  RoleBinding: { apiVersion: 'rbac.authorization.k8s.io/v1' },
} as const;

/** Shared strings for common names: JSON.parse creates a new one for each object. */
const sharedNames = new Map(
  ['default-deny', 'services', 'builds', 'environment', 'members', 'api'].map((name) => [name, name]),
);

/**
 * Returns the resource version, which changes with every write. A quota's usage changes its status all the time, and it
 * has no `metadata.generation`, so its state consists of the field managers of the spec and their times.
 */
function stateOf(kind: IsolationKind, { metadata }: KubernetesObject): string {
  if (kind !== 'ResourceQuota') return metadata.resourceVersion ?? '';
  const { uid, labels, annotations, managedFields = [] } = metadata;
  return hashOf([uid, labels, annotations, managedFields.filter((entry) => !isOfStatus(entry))]).slice(0, 16);
}

function isOfStatus(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'subresource' in entry && entry.subresource === 'status';
}
