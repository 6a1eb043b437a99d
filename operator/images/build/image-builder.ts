import type { ClusterClient } from '../../../kubernetes/client.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { objectKey, type Job } from '../../../kubernetes/resource-type.ts';
import { GRACE_PERIOD_MS } from '../builders/demand.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import type { ImageInRegistry, RegistryClient } from '../registry/client.ts';
import type { FoundImages } from '../registry/found-images.ts';
import { podRefusal } from '../../services/diagnosis/pod-refusal.ts';
import type { BuildQueues } from './build-queue.ts';
import { BuildJobs, MAX_RETRIES, type BuildJobsOptions } from './build-jobs.ts';
import { note, UNREAD, type BuildRequest } from './build-request.ts';
import { BuildResolver, type BuildResolverOptions } from './build-resolver.ts';
import { BUILDER_LOST, buildFailure, failedAt, isFinished, obstacleOf, strandedAt, workEnd } from './job-outcome.ts';
import type { ResolvedBuild, ResolvedImage } from './resolved-build.ts';

export interface ImageBuilderOptions extends BuildResolverOptions, BuildJobsOptions {
  client: ClusterClient;
  registry: RegistryClient;
  found: FoundImages;
  /** Maximum size of one image's layers in the registry, in bytes. */
  maxImageBytes: number;
  queues: Pick<BuildQueues, 'of' | 'leave'>;
}

export interface BuiltImages {
  images: { service: string; image: string }[];
  /** Each layer is counted once. */
  sizeBytes: number;
}

/** The progress of a build's images. */
export interface ImageProgress {
  /** Absent while the Job is running. */
  built?: BuiltImages;
  /** When to check again though nothing changes, in milliseconds. */
  requeueAfterMs?: number | undefined;
}

/** A finished try with missing images. */
interface Attempt {
  build: ResolvedBuild;
  missing: readonly ResolvedImage[];
  job: Job;
  attempt: number;
}

/** Positions advance meanwhile; a build that can start is requeued immediately. */
const queueRecheckMs = 30_000;
/** A pod is created at once, unless it is refused. */
const podExpectedMs = 10_000;
/** A build whose builder was deleted ends by itself within seconds, unless the builder's node is lost. */
const endsWithBuilderMs = 20_000;
/** The quota may be taken by a pod that is about to end: that of an earlier build, or one that is being replaced. */
const quotaTimeoutMs = 60_000;
/** Pause before the first retry, so that what failed can recover; tripled before the next. */
const retryPauseMs = 5000;

/** Makes a build's images exist in the registry: checks first, and runs one Job for those that are missing. */
export class ImageBuilder {
  readonly #options: ImageBuilderOptions;
  readonly #resolver: BuildResolver;
  readonly #jobs: BuildJobs;
  /** When each Job's builder was first seen to be gone, by the Job's UID. */
  readonly #builderGone = new Map<string, number>();

  constructor(options: ImageBuilderOptions) {
    this.#options = options;
    this.#resolver = new BuildResolver(options);
    this.#jobs = new BuildJobs(options, this.#resolver);
  }

  /**
   * Returns the images once all exist. Throws Stalled when the build has failed. A pushed image counts as soon as the log
   * reports it, before its container has ended.
   */
  async build(request: BuildRequest, now: Date): Promise<ImageProgress> {
    const { job, attempt } = this.#jobs.newest(request);
    const { isThrough, requeueAfterMs } = job ? await this.#followJob(job, request, now) : { isThrough: true };
    if (job && !isThrough && !this.#havePushed(job, request)) return { requeueAfterMs };
    // A waiting build's images are known to be missing and are not looked up again.
    if (!job && this.#options.queues.of(request.trusted).isWaiting(request.buildId)) this.#awaitSlot(request);
    const build = await this.#resolver.resolve(request, job);
    const found = await this.#lookUp(build, now);
    const missing = build.images.filter((image) => !found.has(image));
    if (!job) await this.#reportUnchanged(request, [...found.keys()]);
    if (missing.length === 0) {
      this.#options.queues.of(request.trusted).leave(request.buildId);
      requireSize(found, this.#options.maxImageBytes);
      return { built: result(found) };
    }
    if (!isThrough) return { requeueAfterMs };
    if (job) {
      await this.#retry(request, { build, missing, job, attempt }, now);
      return {};
    }
    this.#awaitSlot(request);
    await this.#jobs.start(request, build, missing, 0, now);
    return {};
  }

  /**
   * Returns the remaining grace period in milliseconds for the Job of a build whose images are complete since then; 0
   * if it has no pod or its time is over.
   */
  gracePeriodMs(build: Pick<BuildRequest, 'namespace' | 'number'>, since: Date, now: Date): number {
    if (!this.hasPod(build)) return 0;
    return Math.max(0, since.getTime() + GRACE_PERIOD_MS - now.getTime());
  }

  /** Returns whether the build's Job has a pod, and so a log to read. */
  hasPod(build: Pick<BuildRequest, 'namespace' | 'number'>): boolean {
    const { job } = this.#jobs.newest(build);
    return job !== undefined && this.#jobs.podOf(job) !== undefined;
  }

  /** Returns whether the Job has finished and all of its log is written; follows the log. */
  isOver({ namespace, number, log }: Pick<BuildRequest, 'namespace' | 'number' | 'log'>): boolean {
    const { job } = this.#jobs.newest({ namespace, number });
    const pod = job && this.#jobs.podOf(job);
    if (!pod) return true;
    log.follow(pod);
    return workEnd(job, pod) !== undefined && log.isDrained(pod);
  }

  /** Removes a finished build from the queues. */
  ended(buildId: string): void {
    this.#options.queues.leave(buildId);
  }

  /** Deletes the Jobs of all builds except the running one, and credentials that no build needs any longer. */
  cleanUp(namespace: string, running: number | undefined): Promise<void> {
    return this.#jobs.cleanUp(namespace, running);
  }

  /** Throws Waiting while the build is queued. */
  #awaitSlot({ buildId: id, repository: { group }, environment, trusted }: BuildRequest): void {
    const environmentKey = objectKey(groupNamespace(group), environment.name);
    const waiting = this.#options.queues.of(trusted).positionOf({ id, group, environmentKey });
    if (!waiting) return;
    const { position, of } = waiting;
    throw new Waiting('Queued', `the build is queued at position ${position} of ${of}`, queueRecheckMs);
  }

  /** Follows the Job's pod. Returns whether it has finished and its logs are complete. */
  async #followJob(
    job: Job,
    request: BuildRequest,
    now: Date,
  ): Promise<Pick<ImageProgress, 'requeueAfterMs'> & { isThrough: boolean }> {
    const pod = this.#jobs.podOf(job);
    if (pod) {
      request.log.follow(pod);
      const obstacle = obstacleOf(pod);
      if (obstacle !== undefined) await note(request, `${job.metadata.name}: ${obstacle}`, obstacle);
    }
    const ended = workEnd(job, pod) ?? failedAt(job, pod, now);
    if (ended === undefined) {
      const lostAt = this.#builderLostAt(job, request, now);
      if (lostAt !== undefined) return { isThrough: lostAt <= now.getTime(), requeueAfterMs: lostAt - now.getTime() };
      if (!pod) {
        await this.#checkRefused(job, request, now);
        // A refused pod causes no event.
        return { isThrough: false, requeueAfterMs: podExpectedMs };
      }
      const stranded = strandedAt(pod);
      return { isThrough: false, ...(stranded !== undefined && { requeueAfterMs: stranded - now.getTime() }) };
    }
    if (!pod || request.log.isDrained(pod)) return { isThrough: true };
    if (now.getTime() - ended > GRACE_PERIOD_MS) {
      await note(request, 'unread', UNREAD);
      return { isThrough: true };
    }
    throw new Waiting('CollectingLogs', 'the build has ended, and the last lines of its log are being read', 5000);
  }

  /**
   * Returns when a running try failed, or will, because its builder no longer exists, in milliseconds since 1970;
   * undefined if it exists.
   */
  #builderLostAt(job: Job, request: BuildRequest, now: Date): number | undefined {
    const { uid = '' } = job.metadata;
    if (isFinished(job) || !this.#jobs.hasLostBuilder(request, job)) {
      this.#builderGone.delete(uid);
      return undefined;
    }
    const since = this.#builderGone.get(uid) ?? now.getTime();
    this.#builderGone.set(uid, since);
    return since + endsWithBuilderMs;
  }

  /** Returns whether the log reports all images as pushed, which precedes the kubelet's report by some seconds. */
  #havePushed(job: Job, { log }: BuildRequest): boolean {
    const pod = this.#jobs.podOf(job);
    return pod !== undefined && log.havePushed(pod);
  }

  /** Reports why the Job has no pod. Throws Stalled if the quota leaves no room. */
  async #checkRefused(job: Job, request: BuildRequest, now: Date): Promise<void> {
    const { name, creationTimestamp = '' } = job.metadata;
    const ageMs = now.getTime() - Date.parse(creationTimestamp);
    if (!(ageMs >= podExpectedMs)) return;
    const refusal = await podRefusal(this.#options.client, job);
    if (!refusal) return;
    const message = `the build's pod cannot be created: ${refusal.message}`;
    if (refusal.isQuota && ageMs >= quotaTimeoutMs) throw new Stalled('QuotaExceeded', message);
    await note(request, `${name}: ${message}`, message);
  }

  /** Retries the missing images after an infrastructure failure. Throws Stalled when no retry is left. */
  async #retry(request: BuildRequest, { build, missing, job, attempt }: Attempt, now: Date): Promise<void> {
    const pod = this.#jobs.podOf(job);
    const ended = failedAt(job, pod, now);
    const failed = ended ?? this.#builderLostAt(job, request, now);
    if (failed === undefined) {
      const names = missing.map(({ image }) => image.service).join(', ');
      throw new Stalled(
        'BuildFailed',
        `the build succeeded, but the registry has no image of: ${names}. Check its cleanup rules, then request a build`,
      );
    }
    const failure = ended === undefined ? BUILDER_LOST : buildFailure(job, pod, this.#options.settings.deadlineSeconds);
    if (!failure.isInfrastructure || attempt >= MAX_RETRIES) {
      const tries = attempt === 0 ? '' : ` (after ${attempt + 1} attempts)`;
      throw new Stalled('BuildFailed', `${failure.message}${tries}`);
    }
    const [first = ''] = failure.message.split('\n');
    await note(request, `retry-${attempt}`, `attempt ${attempt + 1} failed because of the infrastructure: ${first}`);
    const leftMs = failed + (failure.pauseMs ?? retryPauseMs * 3 ** attempt) - now.getTime();
    if (leftMs > 0) throw new Waiting('Retrying', `the build is retried: ${first}`, leftMs);
    this.#awaitSlot(request);
    await note(request, `try-${attempt + 1}`, `attempt ${attempt + 2} of ${MAX_RETRIES + 1}`);
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

  async #reportUnchanged(request: BuildRequest, images: readonly ResolvedImage[]): Promise<void> {
    const line = 'unchanged: its image is already in the registry';
    for (const { image } of images) {
      await request.log.note(`unchanged-${image.service}`, { service: image.service, stage: 'build', line });
    }
  }
}

/** Throws Stalled if an image is too large: nodes would unpack it without a limit of their own. */
function requireSize(found: ReadonlyMap<ResolvedImage, ImageInRegistry>, maxBytes: number): void {
  const large = [...found].flatMap(([{ image }, { layers }]) => {
    const bytes = layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return bytes > maxBytes ? [`${image.service} (${inGi(bytes)})`] : [];
  });
  if (large.length === 0) return;
  const remedy =
    'Remove files from them, or ask an administrator to raise the limit (chart value builder.maxImageSize)';
  throw new Stalled(
    'ImageTooLarge',
    `images have more than ${inGi(maxBytes)} of layers: ${large.join(', ')}. ${remedy}`,
  );
}

function inGi(bytes: number): string {
  return `${Math.round((bytes / 2 ** 30) * 100) / 100} GiB`;
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
