import { Gauge } from 'prom-client';
import { ImageCollector, type StoredImages } from '../images/build/image-collector.ts';
import type { OperatorContext } from './context.ts';

/** Creates the collector of unused built images with its metrics. */
export function createImageCollector({
  registries,
  caches,
  config,
  metrics,
  installation,
  now,
  logger,
}: OperatorContext): ImageCollector {
  const { registry, found } = registries;
  const registers = [metrics.registry];
  const images = new Gauge({
    name: 'coppice_registry_images',
    help: "Images that Coppice built and that are in its registry, at the last run of housekeeping's task images",
    registers,
  });
  const bytes = new Gauge({
    name: 'coppice_registry_image_bytes',
    help: 'Size of the layers of these images',
    registers,
  });
  const observe = (stored: StoredImages) => {
    images.set(stored.images);
    bytes.set(stored.bytes);
  };
  return new ImageCollector({
    registry,
    found,
    observe,
    installation,
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
