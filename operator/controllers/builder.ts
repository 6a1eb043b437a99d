import { isDeepStrictEqual } from 'node:util';
import { groupNamespace, groupOfNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf, objectKey } from '../../kubernetes/resource-type.ts';
import { BuilderSet } from '../images/builders/builder-set.ts';
import { groupBuilderName, ephemeralBuilderName } from '../images/builders/identity.ts';
import { BuilderPool } from '../images/builders/pool.ts';
import { BuilderReconciler } from '../images/builders/reconciler.ts';
import type { OperatorCaches } from './caches.ts';
import type { OperatorContext } from './context.ts';
import { defaultPlatform } from '../shared/scheduling.ts';
import { createController } from './controller.ts';

/**
 * Creates the controller of builders. `pool` provides builds with their builders; `enqueue` requeues an Environment.
 */
export function builderController(
  context: OperatorContext,
  enqueue: (environmentKey: string) => void,
): { controller: Controller; pool: BuilderPool } {
  const { client, applier, caches, config, logger, now } = context;
  const { environments, pods, networkPolicies: policies, builderSecrets: secrets } = caches;
  const settings = { ...config.builder, platform: defaultPlatform(config) };
  const { namespace, idleSeconds } = settings;
  const builders = new BuilderSet({ client, applier, secrets, pods, policies, settings, now });
  const pool = new BuilderPool({ builders, settings, enqueue, logger, now });
  const reconciler = new BuilderReconciler({ builders, pool, environments, idleSeconds, now });
  const controller = createController(context, { name: 'builder', reconciler, workers: 4 });
  watchForBuilders(caches, namespace, controller);
  pods.addHandler((type, pod) => {
    if (type !== 'deleted' || pod.metadata.namespace !== namespace) return;
    builders.forget(pod);
    pool.wake(pod.metadata.name);
    // Builds that were using it may not notice.
    const group = pod.metadata.labels?.[LABELS.group];
    const ofGroup = group === undefined ? [] : environments.byIndex('namespace', groupNamespace(group));
    for (const one of ofGroup) if (one.status?.build?.result === 'running') enqueue(keyOf(one));
  });
  return { controller, pool };
}

/** Requeues a builder when one of its objects changes, and when a build that may need it starts or ends. */
export function watchForBuilders(
  { environments, pods, networkPolicies, builderSecrets }: OperatorCaches,
  namespace: string,
  controller: Pick<Controller, 'enqueue'>,
): void {
  builderSecrets.addHandler((_type, secret) => controller.enqueue(keyOf(secret)));
  networkPolicies.addHandler((_type, policy) => {
    if (policy.metadata.namespace === namespace) controller.enqueue(keyOf(policy));
  });
  pods.addHandler((_type, pod) => {
    if (pod.metadata.namespace === namespace) controller.enqueue(keyOf(pod));
  });
  environments.addHandler((type, environment, old) => {
    if (type === 'updated' && isDeepStrictEqual(environment.status?.build, old?.status?.build)) return;
    const group = groupOfNamespace(environment.metadata.namespace ?? '');
    if (group !== undefined) controller.enqueue(objectKey(namespace, groupBuilderName(group)));
    for (const { status, metadata } of old ? [environment, old] : [environment]) {
      if (!status?.build) continue;
      controller.enqueue(objectKey(namespace, ephemeralBuilderName(metadata.uid ?? '', status.build.number)));
    }
  });
}
