import { LABELS } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import {
  ConfigMap,
  Deployment,
  Ingress,
  LimitRange,
  Namespace,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  Secret,
  Service,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { atOnce } from './at-once.ts';

/** All kinds in a benchmark's environments, in about the operator's order of creation. */
const contents: readonly ResourceType[] = [
  LimitRange,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  Secret,
  ConfigMap,
  Service,
  Ingress,
  Deployment,
];

/** Label of a copy. */
export const COPY_LABEL = 'bench-copy';

export interface Copy {
  type: ResourceType;
  object: KubernetesObject;
}

/** Returns the objects of a group's environments: their namespaces, and everything that Coppice created in them. */
export async function environmentObjects(client: ClusterClient, group: string): Promise<Copy[]> {
  const labelSelector = `${LABELS.group}=${group},${LABELS.environment}`;
  const lists = [Namespace, ...contents].map(async (type: ResourceType) => {
    const { items } = await client.list(type, { labelSelector });
    return items.map((object) => ({ type, object }));
  });
  return (await Promise.all(lists)).flat();
}

/**
 * Returns the object as it was originally requested, in a namespace of another name, without fields that the API server
 * added, and without Coppice's labels, by which the operator would find it.
 */
export function copyOf({ type, object }: Copy, rename: (namespace: string) => string): Copy {
  const { name, namespace, labels = {}, annotations } = object.metadata;
  const isCopied = (label: string) =>
    !label.startsWith('coppice.dev/') && ![LABELS.managedBy, 'kubernetes.io/metadata.name'].includes(label);
  const kept = Object.entries(labels).filter(([label]) => isCopied(label));
  const metadata = {
    name: type.kind === 'Namespace' ? rename(name) : name,
    ...(namespace !== undefined && { namespace: rename(namespace) }),
    labels: Object.fromEntries([...kept, [COPY_LABEL, 'true']]),
    annotations,
  };
  return { type, object: { ...without(object, ['status']), ...asked(object), metadata } as KubernetesObject };
}

/** Removes values that the API server chose, or would refuse in a second object. */
function asked(object: KubernetesObject): object {
  const { spec } = object as KubernetesObject & { spec?: Record<string, unknown> };
  if (object.kind === 'Namespace') return { spec: {} };
  if (object.kind !== 'Service' || spec === undefined) return {};
  // A headless Service was requested as such.
  return { spec: spec['clusterIP'] === 'None' ? spec : without(spec, ['clusterIP', 'clusterIPs']) };
}

function without(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** How a plain client creates an object. */
export type Make = (client: ClusterClient, copy: Copy) => Promise<unknown>;

export const byCreate: Make = (client, { type, object }) => client.create(type, object);
export const byApply: Make = (client, { type, object }) =>
  client.apply(type, object, { fieldManager: 'coppice-bench' });

/** Creates the copies with one request each, namespaces first, with at most `max` at the same time. */
export async function makeCopies(client: ClusterClient, copies: readonly Copy[], max: number, make: Make) {
  const isNamespace = ({ type }: Copy) => type.kind === 'Namespace';
  for (const some of [copies.filter(isNamespace), copies.filter((copy) => !isNamespace(copy))]) {
    await atOnce(max, some, async (copy) => {
      await make(client, copy);
    });
  }
}
