import { ensureBaseImages, type ImageName } from './base-images.ts';
import type { Cluster } from './cluster.ts';
import type { Progress } from './progress.ts';
import { mirrorPath, pushImage } from './registry-images.ts';
import type { Registry } from './registry.ts';
import { images } from './versions.ts';

/** Makes images of docker.io, which cannot be pulled here, and puts them where the mirror of docker.io has them. */
export async function mirrorImages(names: readonly ImageName[], registry: Registry, progress: Progress): Promise<void> {
  await ensureBaseImages(names, progress);
  for (const name of names) await pushImage(images[name], mirrorPath(images[name]), registry, progress);
}

/** What the sample set under test/fixtures needs beyond `npm run up`; nothing where images are pulled. */
export async function provideFixtureImages({ isMirror, registry }: Cluster, progress: Progress): Promise<void> {
  if (isMirror) await mirrorImages(['golang', 'nginx', 'postgres', 'python'], registry, progress);
}
