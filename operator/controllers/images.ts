import type { Controller } from '../../kubernetes/controller.ts';
import { ImageCollector } from '../images/build/image-collector.ts';
import type { OperatorContext } from './context.ts';
import { createController } from './controller.ts';

/** Creates the controller that deletes unused built images. It watches nothing and checks all images periodically. */
export function imageController(context: OperatorContext): Controller {
  const controller = createController(context, { name: 'images', reconciler: imageCollector(context), workers: 1 });
  if (context.config.registry.keepUnusedHours > 0) controller.enqueue('all');
  return controller;
}

function imageCollector({ registries, caches, config, now, logger }: OperatorContext): ImageCollector {
  const { registry, found } = registries;
  return new ImageCollector({
    registry,
    found,
    imageRegistry: config.registry,
    groupNames: () => caches.groups.list().map(({ metadata }) => metadata.name),
    environments: () => caches.environments.list(),
    reusables: () => caches.reusables.list(),
    jobs: () => caches.jobs.list(),
    keepMs: config.registry.keepUnusedHours * 3600_000,
    now,
    logger,
  });
}
