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
import { environmentIndexes } from '../shared/environment-keys.ts';
import { ISOLATION_TYPES, reduced, type IsolationKind, type ObjectState } from '../services/isolation/object-state.ts';
import { isMadeByCoppice, withAppliers } from '../../crds/ownership.ts';
import { hostsOf } from '../services/rollout/taken-hosts.ts';

interface Selection<T> {
  labelSelector?: string;
  namespace?: string;
  indexes?: Record<string, IndexFunction<T>>;
  /** What is kept of an object, from the moment it comes: a list of whole ones could be many times as large. */
  transform?: (object: T) => T;
}

/** All that the operator watches: Coppice's kinds, and of the others what Coppice itself made. */
export function operatorCaches(
  client: ClusterClient,
  builderNamespace: string,
  logger: Logger,
  metrics: RuntimeMetrics,
) {
  function informer<T extends KubernetesObject>(
    type: ResourceType<T>,
    { labelSelector, namespace, indexes, transform }: Selection<T> = {},
  ): Informer<T> {
    const all = listWatch<T>(client, type, { labelSelector, namespace });
    return new Informer<T>({
      name: type.kind,
      source: transform ? mapped(all, transform) : all,
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''], ...indexes },
      ...(transform && { transform }),
      logger,
      metrics: metrics.forInformer(type.kind),
    });
  }
  /** Reduced page by page: a list of whole objects would be many times as large. */
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
    environments: informer<Environment>(ENVIRONMENT, { indexes: environmentIndexes, transform: withAppliers }),
    reusables: informer<ReusableEnvironment>(REUSABLE_ENVIRONMENT),
    /** Those too that an administrator made and labelled for a group to have. */
    namespaces: informer(Namespace, { labelSelector: LABELS.group, indexes: { environments: groupOfEnvironment } }),
    /** Those in the namespaces of groups. */
    roleBindings: informer(RoleBinding, { labelSelector: `${own.labelSelector},!${LABELS.environment}` }),
    /** Those in the namespaces of environments. */
    memberBindings: states('RoleBinding', `${own.labelSelector},${LABELS.environment}`),
    deployments: informer(Deployment, own),
    services: informer(Service, own),
    ingresses: informer(Ingress, { ...own, indexes: { host: hostsOf } }),
    jobs: informer(Job, own),
    /**
     * Except isolation policies, three in each namespace: of them, as of quotas and limits, only the state is cached.
     */
    networkPolicies: informer(NetworkPolicy, { labelSelector: `${own.labelSelector},!${LABELS.isolation}` }),
    isolationPolicies: states('NetworkPolicy', `${own.labelSelector},${LABELS.isolation}`),
    limitRanges: states('LimitRange', own.labelSelector),
    resourceQuotas: states('ResourceQuota', own.labelSelector),
    volumeClaims: informer(PersistentVolumeClaim, own),
    /** Those alone that are on their way from one claim to another. */
    movingVolumes: informer(PersistentVolume, {
      labelSelector: LABELS.moving,
      indexes: { moving: ({ metadata }) => [metadata.labels?.[LABELS.moving] ?? ''] },
    }),
    pods: informer(Pod, own),
    /** Of no other namespace: those hold what users keep secret. */
    builderSecrets: informer(Secret, { ...own, namespace: builderNamespace }),
  };
}
export type OperatorCaches = ReturnType<typeof operatorCaches>;

/** For the index `environments` of the namespaces. */
function groupOfEnvironment(namespace: Namespace): string[] {
  const { labels } = namespace.metadata;
  const isEnvironment = isMadeByCoppice(namespace) && labels?.[LABELS.environment] !== undefined;
  const group = isEnvironment ? labels[LABELS.group] : undefined;
  return group === undefined ? [] : [group];
}
