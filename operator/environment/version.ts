import { createHash } from 'node:crypto';
import { z } from 'zod';
import { imageRepository, type ImageRegistry } from '../../crds/names.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { plannedImageSchema } from '../build/plan.ts';
import type { ServiceFileSettings } from '../../service-file/parse.ts';
import { serviceFileSchema } from '../../service-file/schema.ts';
import type { Variables } from '../../service-file/variables.ts';

/** What one commit, read with one configuration, says an environment is: kept in its namespace. */
export const storedVersionSchema = z.object({
  id: z.string(),
  commit: z.string(),
  serviceFile: serviceFileSchema,
  images: z.array(plannedImageSchema),
  warnings: z.array(z.string()),
  /** Whether it was planned as code of those who may push, with variables; absent where an older Coppice wrote it. */
  trusted: z.boolean().optional(),
});
export type StoredVersion = z.infer<typeof storedVersionSchema>;

export interface Version extends StoredVersion {
  /** The texts of its secrets, which no log may show. */
  secrets: string[];
}

/** The namespace that an environment's versions are kept in. */
export interface VersionPlace {
  namespace: string;
  namespaceUid: string;
  labels: Record<string, string>;
}

export interface VersionInput {
  commit: string;
  /** Pull requests that a fork may have brought are not, and are read without variables. */
  trusted: boolean;
  variables: Variables;
  serviceFile: ServiceFileSettings;
  /** Of services that name none. */
  platform?: string | undefined;
}

/** Raised when the same input would be read differently by a newer Coppice. */
const scheme = 1;

/** The same for equal inputs alone, so that what was planned once is not asked of the Git host again. */
export function versionId({ commit, trusted, variables, serviceFile, platform }: VersionInput): string {
  const sorted = [...variables].sort(([a], [b]) => (a < b ? -1 : 1));
  const pairs = sorted.map(([name, { value, visibility }]) => [name, value, visibility]);
  const fields = [
    scheme,
    commit,
    serviceFile.mode,
    serviceFile.content ?? null,
    pairs,
    ...(trusted ? [] : ['untrusted']),
    ...(platform === undefined ? [] : [`platform ${platform}`]),
  ];
  const canonical = JSON.stringify(fields);
  return createHash('sha256').update(canonical).digest('hex').slice(0, 40);
}

/** What services that are set up name as their images before their first build gives digests. */
export function imagesToBe(version: Version, registry: ImageRegistry, repository: ResourceId): Map<string, string> {
  return new Map(
    version.images.map(({ service, address }) => [
      service,
      `${imageRepository(registry, repository, service)}:${address}`,
    ]),
  );
}
