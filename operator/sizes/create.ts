import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { environmentKeyOf, type OperatorCaches } from '../caches.ts';
import { volumesPart } from '../environment/status-parts.ts';
import type { OperatorParts } from '../parts.ts';
import { StatusWriter } from '../status-writer.ts';
import { SizesReconciler } from './reconciler.ts';

/** Puts what measures volumes together. */
export function createSizesReconciler({ client, caches, config, now }: OperatorParts): SizesReconciler {
  const { environments, jobs, pods, volumeClaims } = caches;
  const statuses = new StatusWriter<Environment>(client, ENVIRONMENT, environments, volumesPart);
  return new SizesReconciler({
    ...{ client, environments, jobs, pods, volumeClaims, statuses, now },
    image: config.builder.cloneImage,
    scheduling: config.environments.scheduling,
  });
}

/** Looked at is what another build runs of, or none any more, and whose measuring goes on. */
export function routeSizes(
  { environments, jobs, pods }: Pick<OperatorCaches, 'environments' | 'jobs' | 'pods'>,
  sizes: Pick<Controller, 'enqueue'>,
): void {
  environments.addHandler((type, environment, old) => {
    const { deployed, volumes } = environment.status ?? {};
    if (type === 'deleted' || deployed?.number === volumes?.build) return;
    if (old?.status?.deployed?.number !== deployed?.number || type === 'added') sizes.enqueue(keyOf(environment));
  });
  for (const cache of [jobs, pods] as Pick<Informer<KubernetesObject>, 'addHandler'>[]) {
    cache.addHandler((type, object) => {
      const key = environmentKeyOf(object);
      if (type === 'deleted' || key === undefined || object.metadata.labels?.[LABELS.measuredBuild] === undefined)
        return;
      sizes.enqueue(key);
    });
  }
}
