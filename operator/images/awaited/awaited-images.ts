import type { ServiceFile } from '../../../service-file/schema.ts';
import { parseReference, type ImageReference } from '../registry/reference.ts';

/** An image that is built elsewhere, and the services that run it. */
export interface AwaitedImage {
  image: string;
  reference: ImageReference;
  services: string[];
}

/**
 * Returns the images whose names contain one of the commits, as `registry/app:${COPPICE_COMMIT}` does: another system builds them
 * from this commit, so they can appear later than the commit. Any other image exists before the commit that names it.
 */
export function awaitedImages(commits: readonly string[], { services }: Pick<ServiceFile, 'services'>): AwaitedImage[] {
  const awaited = new Map<string, AwaitedImage>();
  for (const { name, image } of services) {
    if (image === undefined || !commits.some((commit) => image.includes(commit))) continue;
    const reference = parseReference(image);
    if (!reference || reference.digest !== undefined) continue;
    awaited.set(image, { image, reference, services: [...(awaited.get(image)?.services ?? []), name] });
  }
  return [...awaited.values()];
}
