import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf, objectKey } from '../../kubernetes/resource-type.ts';
import type { OperatorContext } from './context.ts';
import { LostVolumes } from '../kinds/reusable/lost-volumes.ts';
import { ReusableReconciler } from '../kinds/reusable/reconciler.ts';
import { Reusables } from '../kinds/reusable/reusables.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { createController } from './controller.ts';

/** Creates the controller of ReusableEnvironments; `reusables` finds and publishes them for Environments. */
export function reusableController(context: OperatorContext): { controller: Controller; reusables: Reusables } {
  const { client, caches, now } = context;
  const statuses = new StatusWriter<ReusableEnvironment>(client, REUSABLE_ENVIRONMENT, caches.reusables);
  const reusables = new Reusables({ ...caches, client, statuses, now });
  const reconciler = new ReusableReconciler({ ...caches, client, reusables, statuses, now });
  const controller = createController(context, { name: 'reusable', reconciler, workers: 4 });
  caches.reusables.addHandler((_type, reusable) => controller.enqueue(keyOf(reusable)));
  caches.volumeClaims.addHandler((_type, { metadata: { labels } }) => {
    const { [LABELS.group]: group, [LABELS.reusable]: reusable } = labels ?? {};
    if (group !== undefined && reusable !== undefined) controller.enqueue(objectKey(groupNamespace(group), reusable));
  });
  return { controller, reusables };
}

/** Creates the controller that releases volumes whose move to a claim was interrupted by a deletion. */
export function lostVolumeController(context: OperatorContext): Controller {
  const { client, caches } = context;
  const reconciler = new LostVolumes({ ...caches, client });
  const controller = createController(context, { name: 'lost-volume', reconciler, workers: 1 });
  caches.movingVolumes.addHandler((type, volume) => {
    if (type !== 'deleted') controller.enqueue(volume.metadata.name);
  });
  return controller;
}
