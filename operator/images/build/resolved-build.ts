import { z } from 'zod';
import { imageRepository, type ImageRegistry } from '../../../crds/image-name.ts';
import type { ResourceId } from '../../../crds/ids.ts';
import { imageTag } from '../plan/content-address.ts';
import type { PlannedImage } from '../plan/image-plan.ts';

/** A planned image with its name in the registry. */
export interface ResolvedImage {
  image: PlannedImage;
  /** `REGISTRY/GROUP/REPOSITORY/SERVICE` */
  repository: string;
  tag: string;
  /** `repository:tag` */
  reference: string;
}

/** The images of a build and their base images, fixed for the whole build. */
export interface ResolvedBuild {
  images: ResolvedImage[];
  /** Digests by full name: `sha256:…` */
  digests: ReadonlyMap<string, string>;
}

export interface ResolveInput {
  registry: ImageRegistry;
  repository: ResourceId;
  repositoryUid: string;
  /** UIDs of included repositories, by name. */
  includedUids?: ReadonlyMap<string, string>;
  trusted: boolean;
  /** Set for builds whose result must be separate: those without cache, and those of forks. */
  separateFor: string | undefined;
  images: readonly PlannedImage[];
  digests: ReadonlyMap<string, string>;
  /** References of the images in a running Job, by service: an older Coppice may have named them differently. */
  recorded?: ReadonlyMap<string, string> | undefined;
}

export function resolveBuild(input: ResolveInput): ResolvedBuild {
  const { registry, repository, repositoryUid, includedUids, trusted, separateFor, images, digests, recorded } = input;
  const resolved = images.map((image): ResolvedImage => {
    const path = imageRepository(registry, repository, image.service, trusted);
    const uid = image.included === undefined ? repositoryUid : includedUids?.get(image.included);
    if (uid === undefined) throw new Error(`the build lacks the repository ${image.included} of ${image.service}`);
    const known = recorded?.get(image.service);
    const tag = known?.startsWith(`${path}:`)
      ? known.slice(path.length + 1)
      : imageTag(image, { digests, repositoryUid: uid, separateFor });
    return { image, repository: path, tag, reference: `${path}:${tag}` };
  });
  return { images: resolved, digests };
}

/** Annotation of a build's Job, from which another operator continues with the same digests. */
export const RECORD_ANNOTATION = 'coppice.dev/build';

const recordSchema = z.object({
  references: z.record(z.string(), z.string()),
  digests: z.record(z.string(), z.string()),
});

export function recordBuild({ images, digests }: ResolvedBuild): string {
  const references = Object.fromEntries(images.map(({ image, reference }) => [image.service, reference]));
  return JSON.stringify({ references, digests: Object.fromEntries(digests) });
}

/** Returns the base images' digests in a Job's annotation; undefined if there are none. */
export function recordedDigests(annotation: string | undefined): ReadonlyMap<string, string> | undefined {
  const record = recordOf(annotation);
  return record && new Map(Object.entries(record.digests));
}

/** Returns the images, `repository:tag`, in a Job's annotation, by service. */
export function recordedReferences(annotation: string | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries(recordOf(annotation)?.references ?? {}));
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
