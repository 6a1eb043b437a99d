import type { Controller } from '../../kubernetes/controller.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/** Keeps the keys of the registry's token server; absent where the registry asks none of ours. It watches nothing. */
export function registryKeyController(context: OperatorContext): Controller[] {
  const { tokenSecrets: reconciler } = context;
  if (!reconciler) return [];
  const controller = createController(context, { name: 'registry-keys', reconciler, workers: 1 });
  controller.enqueue('all');
  return [controller];
}
