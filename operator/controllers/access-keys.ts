import type { Controller } from '../../kubernetes/controller.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/** Creates the controller of the keys that sign cookies and links of environments. It watches nothing. */
export function accessKeyController(context: OperatorContext): Controller {
  const { accessKeys: reconciler } = context;
  const controller = createController(context, { name: 'access-keys', reconciler, workers: 1 });
  controller.enqueue('all');
  return controller;
}
