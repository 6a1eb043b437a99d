import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../../crds/environment.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, objectKey, type NetworkPolicy, type Pod, type Secret } from '../../kubernetes/resource-type.ts';
import type { BuilderSet } from './builder-set.ts';
import { groupBuilderName, throwawayBuilderName } from './identity.ts';
import type { BuilderPool } from './pool.ts';

export interface BuilderRoutes {
  environments: Pick<Informer<Environment>, 'addHandler'>;
  secrets: Pick<Informer<Secret>, 'addHandler'>;
  pods: Pick<Informer<Pod>, 'addHandler'>;
  policies: Pick<Informer<NetworkPolicy>, 'addHandler'>;
  builders: BuilderSet;
  pool: BuilderPool;
  controller: Pick<Controller, 'enqueue'>;
  namespace: string;
}

/** Which change makes the controller look at which builder. */
export function routeBuilderChanges(routes: BuilderRoutes): void {
  const { environments, secrets, pods, policies, builders, pool, controller, namespace } = routes;
  secrets.addHandler((_type, secret) => controller.enqueue(keyOf(secret)));
  policies.addHandler((_type, policy) => {
    if (policy.metadata.namespace === namespace) controller.enqueue(keyOf(policy));
  });
  pods.addHandler((type, pod) => {
    if (pod.metadata.namespace !== namespace) return;
    if (type === 'deleted') {
      builders.forget(pod);
      pool.wake(pod.metadata.name);
    }
    controller.enqueue(keyOf(pod));
  });
  // A build that begins or ends, also by the end of its Environment.
  environments.addHandler((type, environment, old) => {
    if (type === 'updated' && isDeepStrictEqual(environment.status?.build, old?.status?.build)) return;
    const group = groupOfNamespace(environment.metadata.namespace ?? '');
    if (group !== undefined) controller.enqueue(objectKey(namespace, groupBuilderName(group)));
    for (const { status, metadata } of old ? [environment, old] : [environment]) {
      if (!status?.build) continue;
      controller.enqueue(objectKey(namespace, throwawayBuilderName(metadata.uid ?? '', status.build.number)));
    }
  });
}
