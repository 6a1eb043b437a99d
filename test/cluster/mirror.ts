import { storeBaseImages, type ImageName } from './base-images.ts';
import type { Cluster } from './running-cluster.ts';
import type { Progress } from './progress.ts';
import { mirrorPath, pushStored } from './registry-images.ts';
import type { Registry } from './registry.ts';

/** Makes images of docker.io, which cannot be pulled here, and puts them where the mirror of docker.io has them. */
export async function mirrorImages(names: readonly ImageName[], registry: Registry, progress: Progress): Promise<void> {
  for (const stored of await storeBaseImages(names, progress)) {
    await pushStored(stored, mirrorPath(stored.image), registry, progress);
  }
}

/** What the sample set under test/fixtures needs beyond `npm run up`; nothing where images are pulled. */
export async function provideFixtureImages({ isMirror, registry }: Cluster, progress: Progress): Promise<void> {
  if (isMirror) await mirrorImages(['golang', 'nginx', 'postgres', 'python'], registry, progress);
}
