import { z } from 'zod';
import { imageRepository, type ImageRegistry } from '../../../../crds/image-name.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { includedRepositorySchema } from '../../../../crds/included-repository.ts';
import type { ResourceId } from '../../../../crds/ids.ts';
import { hiddenValuesSchema } from '../../../services/objects/hidden-values.ts';
import { plannedImageSchema } from '../../../images/plan/image-plan.ts';
import { serviceFileSchema } from '../../../../service-file/schema.ts';

/** The result of planning one commit with one configuration, stored in the environment's namespace. */
export const storedRevisionSchema = z.object({
  id: z.string(),
  commit: z.string(),
  /** Absent if an older Coppice wrote them. */
  author: z.string().optional(),
  subject: z.string().optional(),
  serviceFile: serviceFileSchema,
  images: z.array(plannedImageSchema),
  warnings: z.array(z.string()),
  /** Whether it was planned as trusted code, with variables; absent if an older Coppice wrote it. */
  trusted: z.boolean().optional(),
  /** The variables that Coppice sets in every container; absent if an older Coppice wrote it. */
  own: z.record(z.string(), z.string()).optional(),
  /** By service, the texts that its pods take from a Secret; absent if an older Coppice wrote it. */
  hidden: z.record(z.string(), hiddenValuesSchema).optional(),
  /** The included repositories, as in the status; absent if there are none, as the following fields. */
  repositories: z.array(includedRepositorySchema).optional(),
  /** The ID without them: that of what the environment's own repository determines. */
  base: z.string().optional(),
  /** Texts to mask of variables that included repositories were planned with. */
  masked: z.array(z.string()).optional(),
});
export type StoredRevision = z.infer<typeof storedRevisionSchema>;

export interface Revision extends StoredRevision {
  /** The texts of its secrets, which are masked in logs. */
  secrets: string[];
}

/** The namespace that stores an environment's revisions. */
export interface RevisionLocation {
  namespace: string;
  namespaceUid: string;
  labels: Record<string, string>;
}

/** Returns the image names of services that are set up, before their first build provides digests. */
export function imagesToBe(revision: Revision, registry: ImageRegistry, repository: ResourceId): Map<string, string> {
  return new Map(
    revision.images.map(({ service, address }) => [
      service,
      `${imageRepository(registry, repository, service)}:${address}`,
    ]),
  );
}

/** Returns the revisions that the status referenced before and no longer does, and those that it references now. */
export function retiredRevisions(
  before: EnvironmentStatus | undefined,
  after: EnvironmentStatus,
): { retired: string[]; kept: string[] } {
  const kept = revisionsOf(after);
  return { retired: revisionsOf(before).filter((id) => !kept.includes(id)), kept };
}

/** Returns the IDs of the revisions that the status references. */
export function revisionsOf({ revision, deployed, build }: EnvironmentStatus = {}): string[] {
  const running = build?.result === 'running' ? build.revision : undefined;
  return [...new Set([revision, deployed?.revision, running].filter((id) => id !== undefined))];
}
