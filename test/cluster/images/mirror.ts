import { storeBaseImages, type ImageName } from './base-images.ts';
import type { Cluster } from '../running-cluster.ts';
import type { Progress } from '../../support/progress.ts';
import { mirrorPath, pushStored } from './push-image.ts';
import type { Registry } from '../registries/registry.ts';

/** Stores images of docker.io, and pushes them where the mirror of docker.io serves them. */
export async function mirrorImages(names: readonly ImageName[], registry: Registry, progress: Progress): Promise<void> {
  for (const stored of await storeBaseImages(names, progress)) {
    await pushStored(stored, mirrorPath(stored.image), registry, progress);
  }
}

/** What the fixtures in test/fixtures and other tests need in addition to `npm run up`. */
export const FIXTURE_IMAGES: readonly ImageName[] = ['golang', 'nginx', 'postgres', 'python', 'redis'];

/** Provides the images of the fixtures; does nothing if images can be pulled. */
export async function provideFixtureImages({ isMirror, registry }: Cluster, progress: Progress): Promise<void> {
  if (isMirror) await mirrorImages(FIXTURE_IMAGES, registry, progress);
}
