import { groupNamespace } from '../../../crds/ids.ts';
import type { ImageRegistry } from '../../../crds/image-name.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import type { BaseImages } from '../registry/base-images.ts';
import type { RegistryAuths } from '../registry/docker-config.ts';
import { isInRegistry } from '../registry/own-registry.ts';
import { readRegistrySecrets } from '../registry/secrets.ts';
import type { OwnRegistryAccess } from '../registry/own-access.ts';
import { note, type BuildRequest } from './build-request.ts';
import { withOwnRegistry } from './credentials.ts';
import {
  recordedDigests,
  recordedReferences,
  RECORD_ANNOTATION,
  resolveBuild,
  type ResolvedBuild,
} from './resolved-build.ts';

export interface BuildResolverOptions {
  client: Pick<ClusterClient, 'find'>;
  baseImages: BaseImages;
  imageRegistry: ImageRegistry;
  /** Access to Coppice's own registry. */
  access: Pick<OwnRegistryAccess, 'forBuild'>;
}

/** Resolves a build's base images, and the names of its images that follow from them. */
export class BuildResolver {
  readonly #options: BuildResolverOptions;

  constructor(options: BuildResolverOptions) {
    this.#options = options;
  }

  /** Returns what is built under which names: as recorded in the running Job, otherwise by the current base images. */
  async resolve(request: BuildRequest, job: Job | undefined): Promise<ResolvedBuild> {
    const { imageRegistry } = this.#options;
    const { environment, repository, repositoryUid, included = [], trusted, noCache, buildId, images } = request;
    const record = job?.metadata.annotations?.[RECORD_ANNOTATION];
    const digests = recordedDigests(record) ?? (await this.#findDigests(request));
    // Forks of one Repository do not trust each other, and an address does not contain everything that a build reads.
    const separateFor = noCache ? buildId : trusted ? undefined : environment.uid;
    const includedUids = new Map(included.map(({ name, repositoryUid: uid }) => [name, uid]));
    return resolveBuild({
      ...{ registry: imageRegistry, repository, repositoryUid, includedUids },
      ...{ trusted, separateFor, images, digests, recorded: recordedReferences(record) },
    });
  }

  /**
   * Returns registry credentials: Coppice's own and, for trusted builds, those of the group's and repository's Secrets.
   */
  async auths(request: BuildRequest): Promise<RegistryAuths> {
    const { client, imageRegistry, access } = this.#options;
    const names = request.trusted ? request.registrySecrets : [];
    const { auths, problems } = await readRegistrySecrets(client, groupNamespace(request.repository.group), names);
    for (const problem of problems) await note(request, problem, problem);
    const { environment, repository, trusted } = request;
    const own = access.forBuild({ environmentUid: environment.uid, repository, trusted });
    return withOwnRegistry(imageRegistry.address, own, auths);
  }

  async #findDigests(request: BuildRequest): Promise<ReadonlyMap<string, string>> {
    const { address } = this.#options.imageRegistry;
    const names = new Set(request.images.flatMap(({ bases }) => bases).filter((base) => !isInRegistry(address, base)));
    // Read even if no registry is asked: missing Secrets are also missing for pulling the services' images.
    const auths = await this.auths(request);
    if (names.size === 0) return new Map();
    const { digests, failures, unasked } = await this.#options.baseImages.digests([...names], auths);
    for (const [name, why] of failures) {
      const line = `base image ${name}: ${why}. The build uses the image that it finds, and later builds do not notice when it changes`;
      await note(request, `base-${name}`, line);
    }
    if (unasked > 0) {
      const line = `${unasked} further base images are not looked up. The build uses the images that it finds, and later builds do not notice when they change`;
      await note(request, 'bases-unasked', line);
    }
    return digests;
  }
}
