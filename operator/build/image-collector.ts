import type { Logger } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { groupOfImage, type ImageRegistry } from '../../crds/names.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { Job } from '../../kubernetes/resource-type.ts';
import { recordedReferences, RECORD_ANNOTATION } from './resolved-build.ts';
import { BUILT_ANNOTATION } from './job-containers.ts';
import type { ImageInRegistry, RegistryClient } from '../registry/client.ts';
import type { FoundImages } from '../registry/found-images.ts';

export interface ImageCollectorParts {
  registry: Pick<RegistryClient, 'repositories' | 'tags' | 'find' | 'delete'>;
  imageRegistry: ImageRegistry;
  groupNames: () => string[];
  environments: () => Pick<Environment, 'status'>[];
  reusables: () => Pick<ReusableEnvironment, 'status'>[];
  jobs: () => Pick<Job, 'metadata'>[];
  found: FoundImages;
  /** What is not used is kept for so long after it was built. */
  keepMs: number;
  now: () => Date;
  logger: Logger;
}

const betweenMs = 3600_000;
/** After a start builds that run have time to find their images again. */
const firstAfterMs = 600_000;

interface Known {
  digest: string;
  /** Undefined: Coppice did not build it. */
  builtAt: number | undefined;
}

/**
 * Deletes images from Coppice's registry that nothing uses. An image is used while an Environment's last build or what
 * it runs names it, a ReusableEnvironment, or a build's Job that is there. Of others only those go that carry Coppice's
 * own mark with the time when they were built, in repositories below Coppice's groups: a registry may hold other
 * people's images too.
 */
export class ImageCollector {
  readonly #parts: ImageCollectorParts;
  readonly #startedAt: number;
  /** By `REPOSITORY:TAG`: a tag is the hash of what it was built from, so what it leads to is asked for once. */
  #known = new Map<string, Known>();

  constructor(parts: ImageCollectorParts) {
    this.#parts = parts;
    this.#startedAt = parts.now().getTime();
  }

  /** For a controller with one key. */
  async reconcile(): Promise<{ requeueAfterMs: number }> {
    const waitMs = this.#startedAt + firstAfterMs - this.#parts.now().getTime();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await this.sweep();
    return { requeueAfterMs: betweenMs };
  }

  /** Looks at every image once; gives those that were deleted. */
  async sweep(): Promise<string[]> {
    const { registry, logger } = this.#parts;
    const known = new Map<string, Known>();
    const deleted: string[] = [];
    // Most images stay: for them what is named is gathered once, or each would cost a walk over every environment.
    const named = new Set(this.#namedImages());
    for (const repository of await this.#repositories()) {
      for (const tag of await registry.tags(repository)) {
        const name = `${repository}:${tag}`;
        const image = this.#known.get(name) ?? knownFrom(await registry.find(repository, tag));
        if (!image) continue;
        if (!this.#isUnused(repository, tag, image, named)) {
          known.set(name, image);
          continue;
        }
        // The tag may have been built anew since it was looked at, and then it is young; or it was named since.
        const now = knownFrom(await registry.find(repository, tag));
        if (!now || now.digest !== image.digest) continue;
        if (!this.#isUnused(repository, tag, now, new Set(this.#namedImages()))) continue;
        await registry.delete(repository, now.digest);
        deleted.push(`${repository}@${now.digest}`);
      }
    }
    this.#known = known;
    logger.info({ looked: known.size + deleted.length, deleted: deleted.length }, 'unused images were collected');
    return deleted;
  }

  /** Below Coppice's groups. Where the registry does not list its repositories: those that Environments name. */
  async #repositories(): Promise<string[]> {
    const { registry, imageRegistry, groupNames } = this.#parts;
    const all = (await registry.repositories()) ?? this.#namedImages().map((image) => image.replace(/[@:][^/]*$/, ''));
    const groups = new Set(groupNames());
    return [...new Set(all)].filter((path) => groups.has(groupOfImage(imageRegistry, path) ?? ''));
  }

  #isUnused(repository: string, tag: string, { digest, builtAt }: Known, named: ReadonlySet<string>): boolean {
    const { found, imageRegistry, keepMs, now } = this.#parts;
    if (builtAt === undefined || now().getTime() - builtAt < keepMs) return false;
    const byDigest = `${repository}@${digest}`;
    if (found.has(`${imageRegistry.address}/${byDigest}`, now())) return false;
    return !named.has(byDigest) && !named.has(`${repository}:${tag}`);
  }

  /** Without the registry's address. */
  #namedImages(): string[] {
    const { environments, reusables, jobs, imageRegistry } = this.#parts;
    const prefix = `${imageRegistry.address}/`;
    const ofEnvironments = environments().flatMap(({ status }) =>
      [...(status?.build?.images ?? []), ...(status?.deployed?.images ?? [])].map(({ image }) => image),
    );
    const ofReusables = reusables().flatMap(({ status }) => status?.images?.map(({ image }) => image) ?? []);
    const ofJobs = jobs().flatMap(({ metadata }) => recordedReferences(metadata.annotations?.[RECORD_ANNOTATION]));
    return [...ofEnvironments, ...ofReusables, ...ofJobs]
      .filter((image) => image.startsWith(prefix))
      .map((image) => image.slice(prefix.length));
  }
}

function knownFrom(image: ImageInRegistry | undefined): Known | undefined {
  if (!image) return undefined;
  const builtAt = Date.parse(image.annotations[BUILT_ANNOTATION] ?? '');
  return { digest: image.digest, builtAt: Number.isNaN(builtAt) ? undefined : builtAt };
}
