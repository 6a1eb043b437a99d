import type { Logger } from 'pino';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { withoutTexts } from '../../crds/repository-texts.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import { listWatch, mapped } from '../../kubernetes/list-watch.ts';
import type { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import {
  Deployment,
  EndpointSlice,
  HttpRoute,
  Middleware,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  RoleBinding,
  Secret,
  Service,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { ENVIRONMENT_INDEXES } from '../shared/environment-keys.ts';
import { ISOLATION_TYPES, reduced, type IsolationKind, type ObjectState } from '../services/isolation/object-state.ts';
import { isMadeByCoppice, withAppliers } from '../../crds/ownership.ts';
import { WATCHER_NAME } from '../services/objects/connection-watcher.ts';
import { SLICE_LABELS, SLICE_MANAGER } from '../services/objects/waker-slices.ts';
import { hostsOf } from '../services/rollout/taken-hosts.ts';

/** Selects the waker's pods in the release's namespace; the chart sets it. */
const WAKER_SELECTOR = 'app.kubernetes.io/name=coppice-waker';

interface Selection<T> {
  labelSelector?: string;
  namespace?: string;
  indexes?: Record<string, IndexFunction<T>>;
  /** Returns the part of an object to cache. */
  transform?: (object: T) => T;
}

/**
 * Creates the caches of everything that the operator watches: Coppice's kinds, and objects of other kinds that Coppice
 * created.
 */
export function operatorCaches(
  client: ClusterClient,
  builderNamespace: string,
  logger: Logger,
  metrics: RuntimeMetrics,
  {
    usesGateways = false,
    usesMiddlewares = false,
    systemNamespace = 'coppice-system',
  }: { usesGateways?: boolean; usesMiddlewares?: boolean; systemNamespace?: string } = {},
) {
  function informer<T extends KubernetesObject>(
    type: ResourceType<T>,
    { labelSelector, namespace, indexes, transform }: Selection<T> = {},
  ): Informer<T> {
    return new Informer<T>({
      name: type.kind,
      source: listWatch<T>(client, type, { labelSelector, namespace }),
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''], ...indexes },
      ...(transform && { transform }),
      logger,
      metrics: metrics.forInformer(type.kind),
    });
  }
  /** Reduces objects page by page, because a list of complete objects could need many times the memory. */
  function states(kind: IsolationKind, labelSelector: string): Informer<ObjectState> {
    const all = listWatch<KubernetesObject>(client, ISOLATION_TYPES[kind], { labelSelector, metadataOnly: true });
    return new Informer<ObjectState>({
      name: `${kind} metadata`,
      source: mapped(all, (object) => reduced(kind, object)),
      transform: (object) => object,
      logger,
      metrics: metrics.forInformer(`${kind} metadata`),
    });
  }
  const own = { labelSelector: `${LABELS.managedBy}=${MANAGED_BY}` };
  return {
    groups: informer<Group>(GROUP),
    repositories: informer<Repository>(REPOSITORY, {
      transform: (repository) => withAppliers(withoutTexts(repository)),
    }),
    environments: informer<Environment>(ENVIRONMENT, { indexes: ENVIRONMENT_INDEXES, transform: withAppliers }),
    reusables: informer<ReusableEnvironment>(REUSABLE_ENVIRONMENT),
    /** Includes namespaces that an administrator created and labeled for a group. */
    namespaces: informer(Namespace, { labelSelector: LABELS.group, indexes: { environments: groupOfEnvironment } }),
    /** RoleBindings in the namespaces of groups. */
    roleBindings: informer(RoleBinding, { labelSelector: `${own.labelSelector},!${LABELS.environment}` }),
    /** RoleBindings in the namespaces of environments. */
    memberBindings: states('RoleBinding', `${own.labelSelector},${LABELS.environment}`),
    deployments: informer(Deployment, own),
    services: informer(Service, own),
    ingresses: informer(Ingress, { ...own, indexes: { host: hostsOf } }),
    /** Only where environments attach to Gateways: a cluster may not have the Gateway API. */
    ...(usesGateways && { httpRoutes: informer(HttpRoute, { ...own, indexes: { host: hostsOf } }) }),
    /** Only where they restrict access at Gateways: a cluster may not have Traefik's kinds. */
    ...(usesMiddlewares && { middlewares: informer(Middleware, own) }),
    jobs: informer(Job, own),
    /** Without isolation policies, three in each namespace: only their state is cached, as for quotas and limits. */
    networkPolicies: informer(NetworkPolicy, { labelSelector: `${own.labelSelector},!${LABELS.isolation}` }),
    isolationPolicies: states('NetworkPolicy', `${own.labelSelector},${LABELS.isolation}`),
    limitRanges: states('LimitRange', own.labelSelector),
    resourceQuotas: states('ResourceQuota', own.labelSelector),
    volumeClaims: informer(PersistentVolumeClaim, own),
    /** Only volumes that are being moved between claims. */
    movingVolumes: informer(PersistentVolume, {
      labelSelector: LABELS.moving,
      indexes: { moving: ({ metadata }) => [metadata.labels?.[LABELS.moving] ?? ''] },
    }),
    pods: informer(Pod, { ...own, transform: withoutWatcher }),
    /** Those that put the waker behind Services. Kubernetes' own have the labels of their Service, and another manager. */
    endpointSlices: informer(EndpointSlice, {
      labelSelector: `${own.labelSelector},${SLICE_LABELS.managedBy}=${SLICE_MANAGER}`,
    }),
    wakerPods: informer(Pod, { namespace: systemNamespace, labelSelector: WAKER_SELECTOR }),
    /** Only Secrets of the builders' namespace: Secrets of other namespaces contain users' data. */
    builderSecrets: informer(Secret, { ...own, namespace: builderNamespace }),
  };
}
export type OperatorCaches = ReturnType<typeof operatorCaches>;

/** Returns the pod without the state of the container that lists its connections, which is not part of its service. */
function withoutWatcher(pod: Pod): Pod {
  const statuses = pod.status?.containerStatuses;
  if (!statuses?.some(({ name }) => name === WATCHER_NAME)) return pod;
  return { ...pod, status: { ...pod.status, containerStatuses: statuses.filter(({ name }) => name !== WATCHER_NAME) } };
}

/** Index function of the namespaces for `environments`. */
function groupOfEnvironment(namespace: Namespace): string[] {
  const { labels } = namespace.metadata;
  const isEnvironment = isMadeByCoppice(namespace) && labels?.[LABELS.environment] !== undefined;
  const group = isEnvironment ? labels[LABELS.group] : undefined;
  return group === undefined ? [] : [group];
}
