import { z } from 'zod';
import { imageRepository, type ImageRegistry } from '../../crds/names.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { imageTag } from './content-address.ts';
import type { PlannedImage } from './plan.ts';

/** A planned image with the name that its result gets in the registry. */
export interface ResolvedImage {
  image: PlannedImage;
  /** `REGISTRY/GROUP/REPOSITORY/SERVICE` */
  repository: string;
  tag: string;
  /** `repository:tag` */
  reference: string;
}

/** The images of a build, and the base images that it begins with: fixed once for the whole build. */
export interface ResolvedBuild {
  images: ResolvedImage[];
  /** By whole name: `sha256:…` */
  digests: ReadonlyMap<string, string>;
}

export interface ResolveInput {
  registry: ImageRegistry;
  repository: ResourceId;
  repositoryUid: string;
  trusted: boolean;
  /** Given when the result is to stand apart: a build without cache. */
  apartAs: string | undefined;
  images: readonly PlannedImage[];
  digests: ReadonlyMap<string, string>;
}

export function resolveBuild(input: ResolveInput): ResolvedBuild {
  const { registry, repository, repositoryUid, trusted, apartAs, images, digests } = input;
  const resolved = images.map((image): ResolvedImage => {
    const path = imageRepository(registry, repository, image.service, trusted);
    const tag = imageTag(image, { digests, repositoryUid, buildId: apartAs });
    return { image, repository: path, tag, reference: `${path}:${tag}` };
  });
  return { images: resolved, digests };
}

/** On a build's Job: what an operator that comes after goes on with, whatever has moved since. */
export const RECORD_ANNOTATION = 'coppice.dev/build';

const recordSchema = z.object({
  references: z.record(z.string(), z.string()),
  digests: z.record(z.string(), z.string()),
});

export function recordBuild({ images, digests }: ResolvedBuild): string {
  const references = Object.fromEntries(images.map(({ image, reference }) => [image.service, reference]));
  return JSON.stringify({ references, digests: Object.fromEntries(digests) });
}

/** The base images' digests that a Job's annotation tells; undefined when it tells none. */
export function recordedDigests(annotation: string | undefined): ReadonlyMap<string, string> | undefined {
  const record = recordOf(annotation);
  return record && new Map(Object.entries(record.digests));
}

/** The images, `repository:tag`, that a Job's annotation names. */
export function recordedReferences(annotation: string | undefined): string[] {
  return Object.values(recordOf(annotation)?.references ?? {});
}

function recordOf(annotation: string | undefined): z.infer<typeof recordSchema> | undefined {
  if (annotation === undefined) return undefined;
  try {
    const parsed = recordSchema.safeParse(JSON.parse(annotation));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
