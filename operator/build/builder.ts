import { fullRefName, type GitRef } from '../../crds/git-ref.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { imageRepository } from '../../crds/names.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { Job, objectKey, Secret, type Pod } from '../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { Source, SourceAccess } from '../source/source.ts';
import { builderSecret, sourceSecret, type BuilderCredentials } from './credentials.ts';
import { buildFailure, isFailed, isFinished } from './job-outcome.ts';
import { buildJob, buildJobName, BUILDER_SECRET, SOURCE_SECRET, type BuilderSettings } from './job.ts';
import type { LogSession } from './log-session.ts';
import { buildPod } from './log-sessions.ts';
import type { PlannedImage } from './plan.ts';
import type { ImageInRegistry, RegistryClient } from './registry.ts';

export interface BuildRequest {
  namespace: string;
  labels: Record<string, string>;
  number: number;
  repository: ResourceId;
  access: SourceAccess;
  ref: GitRef;
  commit: string;
  images: readonly PlannedImage[];
  log: LogSession;
}

export interface BuiltImages {
  images: { service: string; image: string }[];
  /** Each layer counted once. */
  sizeBytes: number;
}

export interface BuilderOptions {
  client: ClusterClient;
  applier: Applier;
  jobs: Informer<Job>;
  pods: Informer<Pod>;
  source: Source;
  registry: RegistryClient;
  registryAddress: string;
  credentials: BuilderCredentials;
  settings: BuilderSettings;
}

/** After the Job's end its pod's logs have this long to arrive; then the build goes on without the rest. */
const drainPatienceMs = 30_000;

/** Brings a build's images into the registry: by looking first, and by one Job for what is missing. */
export class Builder {
  readonly #options: BuilderOptions;

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /** The images once all are there; undefined while the Job works. Throws Stalled when the build has failed. */
  async build(request: BuildRequest, now: Date): Promise<BuiltImages | undefined> {
    const job = this.#options.jobs.get(objectKey(request.namespace, buildJobName(request.number)));
    if (job && !this.#isThrough(job, request, now)) return undefined;
    if (job && isFailed(job)) {
      throw new Stalled('BuildFailed', buildFailure(job, this.#podOf(request), this.#options.settings.deadlineSeconds));
    }
    const found = await this.#lookUp(request);
    const missing = request.images.filter((image) => !found.has(image));
    if (!job) await this.#tellUnchanged(request, [...found.keys()]);
    if (missing.length === 0) return this.#result(request, found);
    if (job) {
      const names = missing.map(({ service }) => service).join(', ');
      throw new Stalled('BuildFailed', `the build ended well, but the registry has no image of: ${names}`);
    }
    await this.#start(request, missing);
    return undefined;
  }

  async #tellUnchanged(request: BuildRequest, images: readonly PlannedImage[]): Promise<void> {
    const line = 'unchanged: its image is in the registry already';
    for (const { service } of images) {
      await request.log.note(`unchanged-${service}`, { service, stage: 'build', line });
    }
  }

  /** Ends the Jobs of all builds but the running one, and takes credentials away that no build needs any more. */
  async cleanUp(namespace: string, running: number | undefined): Promise<void> {
    const { client, jobs } = this.#options;
    const over = jobs
      .byIndex('namespace', namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.build] !== String(running) && !metadata.deletionTimestamp);
    for (const { metadata } of over) {
      await deleteIfThere(client, Job, { namespace, name: metadata.name });
    }
    if (over.length === 0 || running !== undefined) return;
    await deleteIfThere(client, Secret, { namespace, name: BUILDER_SECRET });
    await deleteIfThere(client, Secret, { namespace, name: SOURCE_SECRET });
  }

  /** Follows the Job's pod. True when the Job has ended and its logs are complete. */
  #isThrough(job: Job, request: BuildRequest, now: Date): boolean {
    const pod = this.#podOf(request);
    if (pod) request.log.follow(pod);
    if (!isFinished(job)) return false;
    if (!pod || request.log.isDrained(pod)) return true;
    const endedAt = Math.max(...(job.status?.conditions ?? []).map((one) => Date.parse(one.lastTransitionTime ?? '')));
    if (now.getTime() - endedAt > drainPatienceMs) return true;
    throw new Waiting('CollectingLogs', "the build has ended, its log's last lines are on their way", 5000);
  }

  #podOf(request: BuildRequest): Pod | undefined {
    return buildPod(this.#options.pods, request.namespace, request.number);
  }

  async #lookUp(request: BuildRequest): Promise<Map<PlannedImage, ImageInRegistry>> {
    const entries = await Promise.all(
      request.images.map(async (image) => {
        const found = await this.#options.registry.find(this.#repositoryOf(request, image), image.tag);
        return found ? ([[image, found]] as const) : [];
      }),
    );
    return new Map(entries.flat());
  }

  async #start(request: BuildRequest, missing: readonly PlannedImage[]): Promise<void> {
    const { client, source, registryAddress, credentials, settings, jobs } = this.#options;
    const { namespace, labels, number, access, ref, commit, repository } = request;
    const gitConfig = await source.gitConfig(access);
    await this.#applySecret(sourceSecret(namespace, labels, gitConfig));
    await this.#applySecret(builderSecret(namespace, labels, credentials, registryAddress, repository));
    const images = missing.map((image) => ({
      image,
      reference: `${this.#repositoryOf(request, image)}:${image.tag}`,
    }));
    const job = buildJob({
      namespace,
      labels,
      number,
      origin: access.origin,
      ref: fullRefName(ref),
      commit,
      images,
      cacheNamespace: `${repository.group}/${repository.name}`,
      settings,
    });
    try {
      jobs.observe(await client.create(Job, job));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #applySecret(secret: Secret): Promise<void> {
    await this.#options.applier.apply(Secret, secret, undefined);
  }

  #repositoryOf(request: BuildRequest, image: PlannedImage): string {
    return imageRepository(this.#options.registryAddress, request.repository, image.service);
  }

  #result(request: BuildRequest, found: ReadonlyMap<PlannedImage, ImageInRegistry>): BuiltImages {
    const layers = new Map<string, number>();
    const images = [...found].map(([image, { digest, layers: its }]) => {
      for (const layer of its) layers.set(layer.digest, layer.sizeBytes);
      return { service: image.service, image: `${this.#repositoryOf(request, image)}@${digest}` };
    });
    images.sort((a, b) => (a.service < b.service ? -1 : 1));
    return { images, sizeBytes: [...layers.values()].reduce((sum, size) => sum + size, 0) };
  }
}
