import type * as models from '@kubernetes/client-node';

/**
 * Identifies a kind of resource, so that its paths need no discovery. `T` is the type of its objects, known only to the
 * compiler.
 */
export interface ResourceType<T extends KubernetesObject = KubernetesObject> {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly object?: T;
}

/** The fields of any object that the runtime reads. Times of the API server are RFC 3339 strings. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

export interface ObjectMeta {
  name: string;
  namespace?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
  ownerReferences?: OwnerReference[] | undefined;
  managedFields?: unknown[] | undefined;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

/** Name of an object; without a namespace for a cluster-scoped one. */
export interface ObjectName {
  namespace?: string | undefined;
  name: string;
}

/** Returns `namespace/name`, or `name` for a cluster-scoped object, like client-go's MetaNamespaceKeyFunc. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

export function keyOf(object: KubernetesObject): string {
  return objectKey(object.metadata.namespace, object.metadata.name);
}

/** Parses a key of objectKey(). */
export function splitKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Returns the `apiVersion` of objects and owner references: `v1`, `apps/v1`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/**
 * Returns a negative number when `a` is older than `b`; undefined is the oldest. Resource versions of one resource are
 * comparable integers (KEP-5504).
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number {
  if (!a || !b) return Number(Boolean(a)) - Number(Boolean(b));
  return a.length === b.length ? (a < b ? -1 : Number(a > b)) : a.length - b.length;
}

/** client-node's models as they are in JSON: dates are strings, and `_from` is `from`. */
type Wire<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [K in keyof T as K extends `_${infer Name}` ? Name : K]: Wire<T[K]> }
      : T;
type BuiltIn<Model> = KubernetesObject & Omit<Wire<Model>, keyof KubernetesObject>;

function type<T extends KubernetesObject>(apiVersion: string, kind: string, plural: string, namespaced = true) {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group: group ?? '', version: version ?? '', kind, plural, namespaced } as ResourceType<T>;
}

export type Namespace = BuiltIn<models.V1Namespace>;
export const Namespace = type<Namespace>('v1', 'Namespace', 'namespaces', false);
export type Secret = BuiltIn<models.V1Secret>;
export const Secret = type<Secret>('v1', 'Secret', 'secrets');
export type ConfigMap = BuiltIn<models.V1ConfigMap>;
export const ConfigMap = type<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export type Service = BuiltIn<models.V1Service>;
export const Service = type<Service>('v1', 'Service', 'services');
export type Pod = BuiltIn<models.V1Pod>;
export const Pod = type<Pod>('v1', 'Pod', 'pods');
export type ResourceQuota = BuiltIn<models.V1ResourceQuota>;
export const ResourceQuota = type<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas');
export type LimitRange = BuiltIn<models.V1LimitRange>;
export const LimitRange = type<LimitRange>('v1', 'LimitRange', 'limitranges');
export type NetworkPolicy = BuiltIn<models.V1NetworkPolicy>;
export const NetworkPolicy = type<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
export type Ingress = BuiltIn<models.V1Ingress>;
export const Ingress = type<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses');
/** A Gateway that a route attaches to, of the Gateway API; one of its listeners by name or port. */
export interface ParentReference {
  name: string;
  namespace: string;
  sectionName?: string | undefined;
  port?: number | undefined;
}
/** A route of the Gateway API, which is not part of Kubernetes: only the fields that Coppice uses. */
export interface HttpRoute extends KubernetesObject {
  spec: {
    parentRefs: ParentReference[];
    hostnames: string[];
    rules: {
      matches: { path: { type: 'PathPrefix' | 'Exact'; value: string } }[];
      filters?: RouteFilter[] | undefined;
      backendRefs: { name: string; port: number }[];
    }[];
  };
  status?:
    | {
        parents?:
          | {
              parentRef: { name: string; namespace?: string | undefined };
              conditions?: GatewayCondition[] | undefined;
            }[]
          | undefined;
      }
    | undefined;
}
/** A filter of a rule that is an object of the Gateway's implementation. */
interface RouteFilter {
  type: 'ExtensionRef';
  extensionRef: { group: string; kind: string; name: string };
}
interface GatewayCondition {
  type: string;
  status: string;
  observedGeneration?: number | undefined;
  reason: string;
  message: string;
}
export const HttpRoute = type<HttpRoute>('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes');
/** A kind of Traefik's. */
export interface Middleware extends KubernetesObject {
  spec: { forwardAuth: Record<string, unknown> };
}
export const Middleware = type<Middleware>('traefik.io/v1alpha1', 'Middleware', 'middlewares');
/** A kind of the Gateway API. */
export const Gateway = type('gateway.networking.k8s.io/v1', 'Gateway', 'gateways');
/** A kind of the Gateway API. */
export const GatewayClass = type('gateway.networking.k8s.io/v1', 'GatewayClass', 'gatewayclasses', false);
export type IngressClass = BuiltIn<models.V1IngressClass>;
export const IngressClass = type<IngressClass>('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', false);
export type StorageClass = BuiltIn<models.V1StorageClass>;
export const StorageClass = type<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses', false);
export type Node = BuiltIn<models.V1Node>;
export const Node = type<Node>('v1', 'Node', 'nodes', false);
export type EndpointSlice = BuiltIn<models.V1EndpointSlice>;
export const EndpointSlice = type<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
export type Deployment = BuiltIn<models.V1Deployment>;
export const Deployment = type<Deployment>('apps/v1', 'Deployment', 'deployments');
export type PersistentVolumeClaim = BuiltIn<models.V1PersistentVolumeClaim>;
export const PersistentVolumeClaim = type<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export type PersistentVolume = BuiltIn<models.V1PersistentVolume>;
export const PersistentVolume = type<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes', false);
export type Job = BuiltIn<models.V1Job>;
export const Job = type<Job>('batch/v1', 'Job', 'jobs');
export type RoleBinding = BuiltIn<models.V1RoleBinding>;
export const RoleBinding = type<RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
export type Lease = BuiltIn<models.V1Lease>;
export const Lease = type<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export type CustomResourceDefinition = BuiltIn<models.V1CustomResourceDefinition>;
export const CustomResourceDefinition = type<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
);
/** The older Event type, which `kubectl describe` sorts by time. */
export type CoreEvent = BuiltIn<models.CoreV1Event>;
export const CoreEvent = type<CoreEvent>('v1', 'Event', 'events');
export type Event = BuiltIn<models.EventsV1Event>;
export const Event = type<Event>('events.k8s.io/v1', 'Event', 'events');
