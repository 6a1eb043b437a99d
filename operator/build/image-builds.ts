import type { ClusterClient } from '../../kubernetes/client.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { objectKey, type Job } from '../../kubernetes/resource-type.ts';
import { PARTING_MS } from '../builders/demand.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { ImageInRegistry, RegistryClient } from '../registry/client.ts';
import type { FoundImages } from '../registry/found-images.ts';
import { podRefusal } from '../workloads/pod-refusal.ts';
import type { BuildQueues } from './build-queue.ts';
import { BuildJobs, MOST_RETRIES, type BuildJobsOptions } from './build-jobs.ts';
import { note, type BuildRequest } from './build-request.ts';
import { BuildResolver, type BuildResolverOptions } from './build-resolver.ts';
import { buildFailure, failedAt, isFinished, obstacleOf, strandedAt, workEnd } from './job-outcome.ts';
import type { ResolvedBuild, ResolvedImage } from './resolved-build.ts';

export interface ImageBuildsOptions extends BuildResolverOptions, BuildJobsOptions {
  client: ClusterClient;
  registry: RegistryClient;
  found: FoundImages;
  queues: Pick<BuildQueues, 'of' | 'leave'>;
}

export interface BuiltImages {
  images: { service: string; image: string }[];
  /** Each layer counted once. */
  sizeBytes: number;
}

/** One that is through, of which images are missing. */
interface Attempt {
  build: ResolvedBuild;
  missing: readonly ResolvedImage[];
  job: Job;
  attempt: number;
}

/** A place in the queue moves up meanwhile; whose turn it is, is woken. */
const queueRecheckMs = 30_000;
/** A pod is there at once, unless it is refused. */
const podExpectedMs = 10_000;
/** What fills the quota may be about to go: an earlier build's pod, one that is replaced. */
const quotaPatienceMs = 60_000;
/** What failed needs a moment to come back: so long before the first retry, three times as long before the next. */
const retryPauseMs = 5000;

/** Brings a build's images into the registry: by looking first, and by one Job for what is missing. */
export class ImageBuilds {
  readonly #options: ImageBuildsOptions;
  readonly #resolver: BuildResolver;
  readonly #jobs: BuildJobs;

  constructor(options: ImageBuildsOptions) {
    this.#options = options;
    this.#resolver = new BuildResolver(options);
    this.#jobs = new BuildJobs(options, this.#resolver);
  }

  /**
   * The images once all are there; undefined while the Job works. Throws Stalled when the build has failed. What the Job
   * has pushed counts from when its log says so, though its containers have not ended.
   */
  async build(request: BuildRequest, now: Date): Promise<BuiltImages | undefined> {
    const { job, attempt } = this.#jobs.newest(request);
    const isThrough = !job || (await this.#isThrough(job, request, now));
    if (!isThrough && !this.#havePushed(job, request)) return undefined;
    // What waits is not looked up again: it is known to be missing.
    if (!job && this.#options.queues.of(request.trusted).isWaiting(request.buildId)) this.#awaitTurn(request);
    const build = await this.#resolver.resolve(request, job);
    const found = await this.#lookUp(build, now);
    const missing = build.images.filter((image) => !found.has(image));
    if (!job) await this.#tellUnchanged(request, [...found.keys()]);
    if (missing.length === 0) {
      this.#options.queues.of(request.trusted).leave(request.buildId);
      return result(found);
    }
    if (!isThrough) return undefined;
    if (job) {
      await this.#retry(request, { build, missing, job, attempt }, now);
      return undefined;
    }
    this.#awaitTurn(request);
    await this.#jobs.start(request, build, missing, 0, now);
    return undefined;
  }

  /**
   * How long the Job of a build whose images are there since then may be at work yet; 0 where it has no pod, or has had its
   * time.
   */
  partingMs(build: Pick<BuildRequest, 'namespace' | 'number'>, since: Date, now: Date): number {
    const { job } = this.#jobs.newest(build);
    if (!job || !this.#jobs.podOf(job)) return 0;
    return Math.max(0, since.getTime() + PARTING_MS - now.getTime());
  }

  /** Whether the Job's work is over and all of its log is written; follows it. */
  isOver({ namespace, number, log }: Pick<BuildRequest, 'namespace' | 'number' | 'log'>): boolean {
    const { job } = this.#jobs.newest({ namespace, number });
    const pod = job && this.#jobs.podOf(job);
    if (!pod) return true;
    log.follow(pod);
    return workEnd(job, pod) !== undefined && log.isDrained(pod);
  }

  /** A build is over: whatever it waited for, it waits no more. */
  ended(buildId: string): void {
    this.#options.queues.leave(buildId);
  }

  /** Ends the Jobs of all builds but the running one, and takes credentials away that no build needs any more. */
  cleanUp(namespace: string, running: number | undefined): Promise<void> {
    return this.#jobs.cleanUp(namespace, running);
  }

  /** Throws Waiting while other builds have their turn. */
  #awaitTurn({ buildId: id, repository: { group }, environment, trusted }: BuildRequest): void {
    const environmentKey = objectKey(groupNamespace(group), environment.name);
    const waiting = this.#options.queues.of(trusted).placeOf({ id, group, environmentKey });
    if (!waiting) return;
    const { place, of } = waiting;
    throw new Waiting(
      'Queued',
      `the build waits for its turn: it is number ${place} of the ${of} that wait`,
      queueRecheckMs,
    );
  }

  /** Follows the Job's pod. True when its work is over and its logs are complete. */
  async #isThrough(job: Job, request: BuildRequest, now: Date): Promise<boolean> {
    const pod = this.#jobs.podOf(job);
    if (pod) {
      request.log.follow(pod);
      const obstacle = obstacleOf(pod);
      if (obstacle !== undefined) await note(request, `${job.metadata.name}: ${obstacle}`, obstacle);
    }
    const ended = workEnd(job, pod) ?? failedAt(job, pod, now);
    if (ended === undefined) {
      if (!pod) await this.#checkRefused(job, request, now);
      const stranded = strandedAt(pod);
      if (stranded !== undefined) request.lookAgainIn(stranded - now.getTime());
      return false;
    }
    if (!pod || request.log.isDrained(pod)) return true;
    if (now.getTime() - ended > PARTING_MS) return true;
    throw new Waiting('CollectingLogs', "the build has ended, its log's last lines are on their way", 5000);
  }

  /** Whether the log says that all is pushed: some seconds before the kubelet tells that the containers have ended. */
  #havePushed(job: Job, { log }: BuildRequest): boolean {
    const pod = this.#jobs.podOf(job);
    return pod !== undefined && log.havePushed(pod);
  }

  /** Tells why the Job has no pod. Throws Stalled where the quota leaves it no room. */
  async #checkRefused(job: Job, request: BuildRequest, now: Date): Promise<void> {
    // Nothing changes where a pod is refused.
    request.lookAgainIn(podExpectedMs);
    const { name, creationTimestamp = '' } = job.metadata;
    const ageMs = now.getTime() - Date.parse(creationTimestamp);
    if (!(ageMs >= podExpectedMs)) return;
    const refusal = await podRefusal(this.#options.client, job);
    if (!refusal) return;
    const told = `the build's pod cannot be made: ${refusal.message}`;
    if (refusal.isQuota && ageMs >= quotaPatienceMs) throw new Stalled('QuotaExceeded', told);
    await note(request, `${name}: ${told}`, told);
  }

  /** Another try at what is missing, where the machinery failed. Throws Stalled when there is none. */
  async #retry(request: BuildRequest, { build, missing, job, attempt }: Attempt, now: Date): Promise<void> {
    const pod = this.#jobs.podOf(job);
    const failed = failedAt(job, pod, now);
    if (failed === undefined) {
      const names = missing.map(({ image }) => image.service).join(', ');
      throw new Stalled('BuildFailed', `the build ended well, but the registry has no image of: ${names}`);
    }
    const failure = buildFailure(job, pod, this.#options.settings.deadlineSeconds);
    if (!failure.isInfrastructure || attempt >= MOST_RETRIES) {
      const tries = attempt === 0 ? '' : `, at the last of ${attempt + 1} tries`;
      throw new Stalled('BuildFailed', `${failure.message}${tries}`);
    }
    const [first = ''] = failure.message.split('\n');
    await note(request, `retry-${attempt}`, `try ${attempt + 1} failed through no fault of the build: ${first}`);
    const leftMs = failed + (failure.pauseMs ?? retryPauseMs * 3 ** attempt) - now.getTime();
    if (leftMs > 0) throw new Waiting('Retrying', `the build is tried again: ${first}`, leftMs);
    this.#awaitTurn(request);
    await note(request, `try-${attempt + 1}`, `try ${attempt + 2} of ${MOST_RETRIES + 1}`);
    await this.#jobs.start(request, build, missing, attempt + 1, now);
    if (!isFinished(job)) await this.#jobs.end(job);
  }

  async #lookUp({ images }: ResolvedBuild, now: Date): Promise<Map<ResolvedImage, ImageInRegistry>> {
    const { registry, imageRegistry, found: kept } = this.#options;
    const entries = await Promise.all(
      images.map(async (image) => {
        const found = await registry.find(image.repository.slice(imageRegistry.address.length + 1), image.tag);
        if (!found) return [];
        kept.add(`${image.repository}@${found.digest}`, now);
        return [[image, found]] as const;
      }),
    );
    return new Map(entries.flat());
  }

  async #tellUnchanged(request: BuildRequest, images: readonly ResolvedImage[]): Promise<void> {
    const line = 'unchanged: its image is in the registry already';
    for (const { image } of images) {
      await request.log.note(`unchanged-${image.service}`, { service: image.service, stage: 'build', line });
    }
  }
}

function result(found: ReadonlyMap<ResolvedImage, ImageInRegistry>): BuiltImages {
  const layers = new Map<string, number>();
  const images = [...found].map(([{ image, repository }, { digest, layers: its }]) => {
    for (const layer of its) layers.set(layer.digest, layer.sizeBytes);
    return { service: image.service, image: `${repository}@${digest}` };
  });
  images.sort((a, b) => (a.service < b.service ? -1 : 1));
  return { images, sizeBytes: [...layers.values()].reduce((sum, size) => sum + size, 0) };
}
