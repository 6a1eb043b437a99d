import type { Logger } from 'pino';
import { ENVIRONMENT, type Environment } from '../crds/environment.ts';
import { GROUP, type Group } from '../crds/group.ts';
import { groupNamespace } from '../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../crds/labels.ts';
import { REPOSITORY, type Repository } from '../crds/repository.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import { Informer } from '../kubernetes/informer.ts';
import { listWatch } from '../kubernetes/list-watch.ts';
import type { RuntimeMetrics } from '../kubernetes/metrics.ts';
import {
  Deployment,
  Ingress,
  Job,
  Namespace,
  objectKey,
  Pod,
  Service,
  type KubernetesObject,
  type ResourceType,
} from '../kubernetes/resource-type.ts';

/** All that the operator watches: Coppice's kinds, and of the others what Coppice itself made. */
export function operatorCaches(client: ClusterClient, logger: Logger, metrics: RuntimeMetrics) {
  function informer<T extends KubernetesObject>(type: ResourceType<T>, labelSelector?: string): Informer<T> {
    return new Informer<T>({
      name: type.kind,
      source: listWatch(client, type, { labelSelector }),
      indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
      logger,
      metrics: metrics.forInformer(type.kind),
    });
  }
  const own = `${LABELS.managedBy}=${MANAGED_BY}`;
  return {
    groups: informer<Group>(GROUP),
    repositories: informer<Repository>(REPOSITORY),
    environments: informer<Environment>(ENVIRONMENT),
    namespaces: informer(Namespace, own),
    deployments: informer(Deployment, own),
    services: informer(Service, own),
    ingresses: informer(Ingress, own),
    jobs: informer(Job, own),
    pods: informer(Pod, own),
  };
}
export type OperatorCaches = ReturnType<typeof operatorCaches>;

/** The key of the Environment that an object was made for, or undefined for anything else. */
export function environmentKeyOf({ metadata }: KubernetesObject): string | undefined {
  const group = metadata.labels?.[LABELS.group];
  const environment = metadata.labels?.[LABELS.environment];
  return group === undefined || environment === undefined ? undefined : objectKey(groupNamespace(group), environment);
}
