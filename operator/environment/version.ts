import { z } from 'zod';
import { imageRepository } from '../../crds/names.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { plannedImageSchema } from '../build/plan.ts';
import { serviceFileSchema } from '../service-file/schema.ts';

/** What one commit says an environment is: kept in its namespace, so that nothing is asked of the Git host twice. */
export const versionSchema = z.object({
  commit: z.string(),
  serviceFile: serviceFileSchema,
  images: z.array(plannedImageSchema),
  warnings: z.array(z.string()),
});
export type Version = z.infer<typeof versionSchema>;

/** Where each service's image is to be found: by tag as long as it is not known by digest. */
export function imagesByTag(version: Version, registry: string, repository: ResourceId): Map<string, string> {
  return new Map(
    version.images.map(({ service, tag }) => [service, `${imageRepository(registry, repository, service)}:${tag}`]),
  );
}
