import type { Logger } from 'pino';
import type { Environment } from '../../../crds/environment.ts';
import { groupOfImage, type ImageRegistry } from '../../../crds/image-name.ts';
import type { ReusableEnvironment } from '../../../crds/reusable-environment.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import { recordedReferences, RECORD_ANNOTATION } from './resolved-build.ts';
import { BUILT_ANNOTATION, INSTALLATION_ANNOTATION } from './job-containers.ts';
import type { ImageInRegistry, RegistryClient } from '../registry/client.ts';
import type { FoundImages } from '../registry/found-images.ts';

export interface ImageCollectorOptions {
  registry: Pick<RegistryClient, 'repositories' | 'tags' | 'find' | 'delete'>;
  imageRegistry: ImageRegistry;
  groupNames: () => string[];
  /** Returns the ID of this installation. */
  installation: () => Promise<string>;
  environments: () => Pick<Environment, 'status'>[];
  reusables: () => Pick<ReusableEnvironment, 'status'>[];
  jobs: () => Pick<Job, 'metadata'>[];
  found: FoundImages;
  /** Called with the images that each sweep leaves. */
  observe: (stored: StoredImages) => void;
  /** How long unused images are kept after they were built. */
  keepMs: number;
  now: () => Date;
  logger: Logger;
}

/** No sweep should start earlier after the operator's start: running builds need time to find their images again. */
export const MIN_UPTIME_MS = 600_000;

/** Images that Coppice built. */
export interface StoredImages {
  images: number;
  /** Size of their layers, each of which registries store once. */
  bytes: number;
}

interface Known {
  digest: string;
  layers: ImageInRegistry['layers'];
  /** Undefined if Coppice did not build it. */
  builtAt: number | undefined;
  installation: string | undefined;
}

/**
 * Deletes unused images from Coppice's registry. An image is in use while it is named by an Environment's last or
 * deployed build, a ReusableEnvironment, or an existing build Job. Other images are deleted only if they have Coppice's
 * annotation with the build time, in repositories under Coppice's groups, or if this installation built them for a group
 * that no longer exists: a registry can hold images of others too.
 */
export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  /** By `REPOSITORY:TAG`. A tag is the hash of its input, so its image is asked for only once. */
  #known = new Map<string, Known>();
  /** Repositories under no group in which this installation has no image: they are checked once. */
  readonly #foreign = new Set<string>();

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  /** Sweeps, and reports what was deleted and what is left. */
  async run(): Promise<{ message: string }> {
    const deleted = await this.sweep();
    const { images, bytes } = this.#stored();
    return { message: `${deleted.length} images deleted, ${images} with ${Math.round(bytes / 2 ** 20)} MiB left` };
  }

  /** Checks every image once; returns those that were deleted. */
  async sweep(): Promise<string[]> {
    const { registry, logger } = this.#options;
    const known = new Map<string, Known>();
    const deleted: string[] = [];
    // Most images are in use, so the names are gathered once instead of walking over every environment for each image.
    const named = new Set(this.#namedImages());
    const [installation, groups] = [await this.#options.installation(), new Set(this.#options.groupNames())];
    for (const { repository, group } of await this.#repositories()) {
      const isOfGroup = groups.has(group);
      if (isOfGroup) this.#foreign.delete(repository);
      else if (this.#foreign.has(repository)) continue;
      let left = 0;
      for (const tag of await registry.tags(repository)) {
        const name = `${repository}:${tag}`;
        const image = this.#known.get(name) ?? knownFrom(await registry.find(repository, tag));
        if (!image || !(isOfGroup || image.installation === installation)) continue;
        left += 1;
        if (!this.#isUnused(repository, tag, image, named)) {
          known.set(name, image);
          continue;
        }
        // The tag may have been rebuilt or referenced since it was checked.
        const now = knownFrom(await registry.find(repository, tag));
        if (!now || now.digest !== image.digest) continue;
        if (!this.#isUnused(repository, tag, now, new Set(this.#namedImages()))) continue;
        await registry.delete(repository, now.digest);
        deleted.push(`${repository}@${now.digest}`);
        left -= 1;
      }
      if (!isOfGroup && left === 0) this.#foreign.add(repository);
    }
    this.#known = known;
    this.#options.observe(this.#stored());
    logger.info({ checked: known.size + deleted.length, deleted: deleted.length }, 'unused images were deleted');
    return deleted;
  }

  #stored(): StoredImages {
    const own = [...this.#known.values()].filter(({ builtAt }) => builtAt !== undefined);
    const layers = new Map(own.flatMap((image) => image.layers.map(({ digest, sizeBytes }) => [digest, sizeBytes])));
    return { images: own.length, bytes: [...layers.values()].reduce((sum, bytes) => sum + bytes, 0) };
  }

  /**
   * Returns the repositories that are named like those of a group; if the registry does not list them, those that
   * Environments reference.
   */
  async #repositories(): Promise<{ repository: string; group: string }[]> {
    const { registry, imageRegistry } = this.#options;
    const all = (await registry.repositories()) ?? this.#namedImages().map((image) => image.replace(/[@:][^/]*$/, ''));
    return [...new Set(all)].flatMap((repository) => {
      const group = groupOfImage(imageRegistry, repository);
      return group === undefined ? [] : [{ repository, group }];
    });
  }

  #isUnused(repository: string, tag: string, { digest, builtAt }: Known, named: ReadonlySet<string>): boolean {
    const { found, imageRegistry, keepMs, now } = this.#options;
    if (builtAt === undefined || now().getTime() - builtAt < keepMs) return false;
    const byDigest = `${repository}@${digest}`;
    if (found.has(`${imageRegistry.address}/${byDigest}`, now())) return false;
    return !named.has(byDigest) && !named.has(`${repository}:${tag}`);
  }

  /** Returns names without the registry's address. */
  #namedImages(): string[] {
    const { environments, reusables, jobs, imageRegistry } = this.#options;
    const prefix = `${imageRegistry.address}/`;
    const ofEnvironments = environments().flatMap(({ status }) =>
      [...(status?.build?.images ?? []), ...(status?.deployed?.images ?? [])].map(({ image }) => image),
    );
    const ofReusables = reusables().flatMap(({ status }) => status?.images?.map(({ image }) => image) ?? []);
    const ofJobs = jobs().flatMap(({ metadata }) => [
      ...recordedReferences(metadata.annotations?.[RECORD_ANNOTATION]).values(),
    ]);
    return [...ofEnvironments, ...ofReusables, ...ofJobs]
      .filter((image) => image.startsWith(prefix))
      .map((image) => image.slice(prefix.length));
  }
}

function knownFrom(image: ImageInRegistry | undefined): Known | undefined {
  if (!image) return undefined;
  const builtAt = Date.parse(image.annotations[BUILT_ANNOTATION] ?? '');
  return {
    digest: image.digest,
    layers: image.layers,
    builtAt: Number.isNaN(builtAt) ? undefined : builtAt,
    installation: image.annotations[INSTALLATION_ANNOTATION],
  };
}
