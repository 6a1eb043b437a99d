import type { Controller } from '../../kubernetes/controller.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/**
 * Creates the controller of the token server's keys; none if the registry does not use Coppice's token server. It
 * watches nothing.
 */
export function registryKeyController(context: OperatorContext): Controller[] {
  const { tokenSecrets: reconciler } = context;
  if (!reconciler) return [];
  const controller = createController(context, { name: 'registry-keys', reconciler, workers: 1 });
  controller.enqueue('all');
  return [controller];
}
