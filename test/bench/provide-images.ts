import { ensureBaseImages, registriesAreReached, type ImageName } from '../cluster/images/base-images.ts';
import { mirrorImages } from '../cluster/images/mirror.ts';
import { Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { readRegistry } from '../cluster/registries/registry.ts';

/** Provides base images in Docker and, unless a public registry is reached, in the cluster's mirror. */
export async function provideImages(names: readonly ImageName[], progress: Progress): Promise<void> {
  await ensureBaseImages(names, progress);
  if (await registriesAreReached()) return;
  const registry = readRegistry();
  if (!registry) throw new Problem('The registry of the local cluster is not known: start it with `npm run up`.');
  await mirrorImages(names, registry, progress);
}
