import type { Controller } from '../../kubernetes/controller.ts';
import { LostPods } from '../kinds/lost-pods/lost-pods.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/** Creates the controller that removes pods of lost nodes. It watches nothing and checks all pods periodically. */
export function lostPodController(context: OperatorContext): Controller {
  const { client, caches, now, logger } = context;
  const reconciler = new LostPods({ client, pods: () => caches.pods.list(), now, logger });
  const controller = createController(context, { name: 'lost-pods', reconciler, workers: 1 });
  controller.enqueue('all');
  return controller;
}
