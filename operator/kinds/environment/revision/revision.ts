import { z } from 'zod';
import { imageRepository, type ImageRegistry } from '../../../../crds/image-name.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { includedRepositorySchema } from '../../../../crds/included-repository.ts';
import type { ResourceId } from '../../../../crds/ids.ts';
import { keyedHash } from '../../../shared/hash-key.ts';
import { hiddenValuesSchema } from '../../../services/objects/hidden-values.ts';
import { plannedImageSchema } from '../../../images/plan/image-plan.ts';
import type { ServiceFileSettings } from '../../../../service-file/parse.ts';
import { containerVariables, type EnvironmentFacts } from '../../../../service-file/own-variables.ts';
import { serviceFileSchema } from '../../../../service-file/schema.ts';
import type { Variables } from '../../../../service-file/variables.ts';

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

export interface RevisionInput {
  commit: string;
  /** Whether the code is trusted; untrusted code is planned without variables. */
  trusted: boolean;
  variables: Variables;
  serviceFile: ServiceFileSettings;
  /** What the variables that Coppice sets are made of, except for the commit and the build. */
  facts: EnvironmentFacts;
  /** Platform of services that set none. */
  platform?: string | undefined;
}

/** Incremented when a newer Coppice would plan the same input differently. */
const scheme = 2;

/**
 * Returns an ID that is equal only for equal inputs, so that nothing is planned twice. Members see it in the status, so
 * it needs the hash key: variables can be secret.
 */
export function revisionId(
  hashKey: Uint8Array,
  { commit, trusted, variables, serviceFile, facts, platform }: RevisionInput,
): string {
  const pairs = pairsOf(variables);
  const fields = [
    scheme,
    commit,
    serviceFile.mode,
    serviceFile.content ?? null,
    pairs,
    ...(trusted ? [] : ['untrusted']),
    ...(platform === undefined ? [] : [`platform ${platform}`]),
    ...(serviceFile.overrides === undefined ? [] : [`overrides ${serviceFile.overrides}`]),
    { ...containerVariables(facts), registry: facts.registry },
  ];
  return keyedHash(hashKey, fields).slice(0, 40);
}

/** What an included repository adds to a revision. */
export interface IncludedInput {
  name: string;
  repositoryUid: string;
  branch: string;
  commit: string;
  variables: Variables;
  serviceFile: ServiceFileSettings;
}

/** Returns the ID of a revision with included repositories. `base`: that without them; which they are follows from it. */
export function idWithIncluded(hashKey: Uint8Array, base: string, included: readonly IncludedInput[]): string {
  const parts = included.map(({ name, repositoryUid, branch, commit, variables, serviceFile }) => [
    ...[name, repositoryUid, branch, commit, pairsOf(variables)],
    ...[serviceFile.mode, serviceFile.content ?? null],
  ]);
  return keyedHash(hashKey, [scheme, base, parts]).slice(0, 40);
}

function pairsOf(variables: Variables): string[][] {
  const sorted = [...variables].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, { value, visibility, secret }]) => [
    name,
    value,
    visibility,
    ...(secret === true ? ['secret'] : []),
  ]);
}

/**
 * Returns the ID of a revision that contains the build's number: each build has its own. `id`: that of the same input
 * without the number.
 */
export function numberedId(id: string, build: number): string {
  return `${id}-${build}`;
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
