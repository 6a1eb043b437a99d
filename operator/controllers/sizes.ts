import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { OperatorCaches } from './caches.ts';
import { environmentKeyOf } from '../shared/environment-keys.ts';
import { volumesPart } from '../kinds/environment/status/status-parts.ts';
import type { OperatorContext } from './context.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { SizesReconciler } from '../reports/volume-sizes/reconciler.ts';
import { createController } from './controller.ts';

/** Creates the controller that measures the volumes of deployed builds. */
export function sizesController(context: OperatorContext): Controller {
  const { client, caches, config, now } = context;
  const { environments, jobs, pods, volumeClaims } = caches;
  const statuses = new StatusWriter<Environment>(client, ENVIRONMENT, environments, volumesPart);
  const reconciler = new SizesReconciler({
    ...{ client, environments, jobs, pods, volumeClaims, statuses, now },
    image: config.builder.cloneImage,
    scheduling: config.environments.scheduling,
  });
  const controller = createController(context, { name: 'sizes', reconciler, workers: 2 });
  watchForSizes(caches, controller);
  return controller;
}

/**
 * Requeues an Environment when another build is deployed, or its build is removed, and when its measuring Job changes.
 */
function watchForSizes(
  { environments, jobs, pods }: Pick<OperatorCaches, 'environments' | 'jobs' | 'pods'>,
  controller: Pick<Controller, 'enqueue'>,
): void {
  environments.addHandler((type, environment, old) => {
    const { deployed, volumes } = environment.status ?? {};
    if (type === 'deleted' || deployed?.number === volumes?.build) return;
    const isAsleep = environment.status?.sleep?.asleep === true;
    if (isAsleep) return;
    const woke = old?.status?.sleep?.asleep === true;
    if (woke || old?.status?.deployed?.number !== deployed?.number || type === 'added')
      controller.enqueue(keyOf(environment));
  });
  for (const cache of [jobs, pods] as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((type, object) => {
      const key = environmentKeyOf(object);
      if (type === 'deleted' || key === undefined || object.metadata.labels?.[LABELS.measuredBuild] === undefined)
        return;
      controller.enqueue(key);
    });
  }
}
