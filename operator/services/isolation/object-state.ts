import { hashOf } from '../../../kubernetes/apply.ts';
import { LimitRange, NetworkPolicy, ResourceQuota, type KubernetesObject } from '../../../kubernetes/resource-type.ts';

/** The kinds that isolate an environment's namespace. */
export const ISOLATION_TYPES = { NetworkPolicy, LimitRange, ResourceQuota } as const;
export type IsolationKind = keyof typeof ISOLATION_TYPES;

/** An object of which only its name, version and state are held: there are five in each environment's namespace. */
export interface ObjectState extends KubernetesObject {
  /** Differs once anybody has changed what the object isolates by. */
  state: string;
}

/** Reduces an object to its state; of one that is reduced already, returns it. */
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
} as const;

/** One text for all objects of a name: JSON.parse makes one for each. */
const sharedNames = new Map(['default-deny', 'services', 'builds', 'environment'].map((name) => [name, name]));

/**
 * The resource version changes with every write. A quota's usage is written into its status all the time, so of a quota
 * it is who has set which fields, and when, beside the status; its kind has no `metadata.generation`.
 */
function stateOf(kind: IsolationKind, { metadata }: KubernetesObject): string {
  if (kind !== 'ResourceQuota') return metadata.resourceVersion ?? '';
  const { uid, labels, annotations, managedFields = [] } = metadata;
  return hashOf([uid, labels, annotations, managedFields.filter((entry) => !isOfStatus(entry))]).slice(0, 16);
}

function isOfStatus(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'subresource' in entry && entry.subresource === 'status';
}
