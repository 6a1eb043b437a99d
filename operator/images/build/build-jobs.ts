import { LABELS } from '../../../crds/labels.ts';
import { imagePrefix, type ImageRegistry } from '../../../crds/image-name.ts';
import { ApiError, isAlreadyExists, isUnavailable } from '../../../kubernetes/api-error.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteIfThere } from '../../../kubernetes/delete-if-present.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { Job, objectKey, Secret, type Pod } from '../../../kubernetes/resource-type.ts';
import type { BuilderPool } from '../builders/pool.ts';
import { waitWhileBusy } from '../../source/errors.ts';
import type { Source } from '../../source/git/source.ts';
import { podsOfJob } from '../../services/objects/job.ts';
import { refusedForGood } from '../../services/diagnosis/refusal.ts';
import type { BuildRequest } from './build-request.ts';
import type { BuildResolver } from './build-resolver.ts';
import { buildArguments } from './build-arguments.ts';
import { buildSecret, sourceSecret } from './credentials.ts';
import { buildJob, buildJobName } from './job.ts';
import { authorityFiles, BUILD_CREDENTIALS, CREDENTIALS_FOLDER, SOURCE_CREDENTIALS } from './job-containers.ts';
import type { BuildJobSettings } from './job-input.ts';
import type { ResolvedBuild, ResolvedImage } from './resolved-build.ts';
import { sourcePolicy } from './allowed-image-sources.ts';

export interface BuildJobsOptions {
  client: Pick<ClusterClient, 'create' | 'delete'>;
  applier: Applier;
  jobs: Informer<Job>;
  pods: Informer<Pod>;
  source: Source;
  imageRegistry: ImageRegistry;
  builders: Pick<BuilderPool, 'acquire' | 'isGone'>;
  /** Returns the ID of this installation. */
  installation: () => Promise<string>;
  settings: BuildJobSettings;
}

/** Maximum number of retries of a failed build. */
export const MAX_RETRIES = 2;

/** Manages the Jobs of builds and the Secrets that they mount. */
export class BuildJobs {
  readonly #options: BuildJobsOptions;
  readonly #resolver: BuildResolver;

  constructor(options: BuildJobsOptions, resolver: BuildResolver) {
    this.#options = options;
    this.#resolver = resolver;
  }

  /** Returns the Job of the build's last try; `attempt` is 0 for the first one. */
  newest({ namespace, number }: Pick<BuildRequest, 'namespace' | 'number'>): { job: Job | undefined; attempt: number } {
    for (let attempt = MAX_RETRIES; attempt > 0; attempt -= 1) {
      const job = this.#options.jobs.get(objectKey(namespace, buildJobName(number, attempt)));
      if (job) return { job, attempt };
    }
    return { job: this.#options.jobs.get(objectKey(namespace, buildJobName(number, 0))), attempt: 0 };
  }

  /** Returns whether the builder of a try no longer exists. */
  hasLostBuilder({ repository, trusted, environment, number }: BuildRequest, job: Job): boolean {
    const build = { environment: environment.name, environmentUid: environment.uid, number };
    const startedAt = new Date(job.metadata.creationTimestamp ?? '');
    return this.#options.builders.isGone({ group: repository.group, trusted, build }, startedAt);
  }

  podOf(job: Job): Pod | undefined {
    return podsOfJob(this.#options.pods, job)[0];
  }

  /**
   * Starts a try at the missing images once a buildkitd is ready. Throws Stalled if a quota refuses it, Waiting while
   * the Git host is busy.
   */
  async start(
    request: BuildRequest,
    build: ResolvedBuild,
    missing: readonly ResolvedImage[],
    attempt: number,
    now: Date,
  ): Promise<void> {
    const { client, applier, imageRegistry, builders, settings, jobs } = this.#options;
    const { namespace, labels, number, requestId, repository, trusted, noCache, buildId } = request;
    const { name: environment, uid: environmentUid } = request.environment;
    const builder = await builders.acquire({
      group: repository.group,
      trusted,
      build: { environment, environmentUid, number },
    });
    const clones = await this.#clones(request, missing);
    const installation = await this.#options.installation();
    const ownImages = imagePrefix(imageRegistry, repository);
    const untrustedImages = imagePrefix(imageRegistry, repository, false);
    const { digests } = build;
    const policy = sourcePolicy({ registry: imageRegistry.address, ownImages, untrustedImages, trusted, digests });
    const given = missing.flatMap(({ image }) => buildArguments(image, { number, settings }));
    const files = [...given, ...authorityFiles(settings)];
    const secrets = [
      sourceSecret(namespace, labels, clones),
      buildSecret(namespace, labels, builder, await this.#resolver.auths(request), policy, files),
    ];
    const job = buildJob({
      namespace,
      labels,
      number,
      attempt,
      requestId,
      clones: clones.map(({ files, ...clone }) => ({ ...clone, files: Object.keys(files(CREDENTIALS_FOLDER)) })),
      build,
      missing,
      trusted,
      noCache,
      builder,
      // A separate cache: builds of others must not find what a fork's pull request stores.
      cacheNamespace: (included) =>
        `${repository.group}/${included ?? repository.name}${trusted ? '' : `/untrusted/${buildId}`}`,
      installation,
      now,
      settings,
    });
    try {
      for (const secret of secrets) await applier.apply(Secret, secret, undefined);
      jobs.observe(await client.create(Job, job));
    } catch (error) {
      if (isAlreadyExists(error)) return;
      // Without a response the Job may exist and need them.
      if (error instanceof ApiError && !isUnavailable(error)) await this.#deleteCredentials(namespace);
      throw refusedForGood(error);
    }
  }

  /** Returns the clones that the missing images need: a repository without any is not fetched. */
  async #clones(request: BuildRequest, missing: readonly ResolvedImage[]) {
    const { source } = this.#options;
    const needed = new Set(missing.map(({ image }) => image.included));
    const own = needed.has(undefined)
      ? [{ name: undefined, commit: request.commit, location: await request.locate().catch(whileBusy) }]
      : [];
    const included = (request.included ?? []).filter(({ name }) => needed.has(name));
    return Promise.all(
      [...own, ...included].map(async ({ name, commit, location: { access, refName } }) => {
        const files = await source.files(access);
        return { included: name, origin: access.origin, ref: refName, commit, files };
      }),
    );
  }

  async end(job: Job): Promise<void> {
    await deleteObject(this.#options.client, Job, job);
  }

  /** Deletes the Jobs of all builds except the running one, and credentials that no build needs any longer. */
  async cleanUp(namespace: string, running: number | undefined): Promise<void> {
    const { jobs } = this.#options;
    const builds = jobs
      .byIndex('namespace', namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.build] !== undefined && !metadata.deletionTimestamp);
    const over = builds.filter(({ metadata }) => metadata.labels?.[LABELS.build] !== String(running));
    if (over.length === 0) return;
    // Before the Jobs: while a Job remains, an interrupted cleanup is repeated.
    if (running === undefined) await this.#deleteCredentials(namespace);
    for (const job of over) await this.end(job);
  }

  async #deleteCredentials(namespace: string): Promise<void> {
    const { client } = this.#options;
    await deleteIfThere(client, Secret, { namespace, name: BUILD_CREDENTIALS });
    await deleteIfThere(client, Secret, { namespace, name: SOURCE_CREDENTIALS });
  }
}

function whileBusy(error: unknown): never {
  throw waitWhileBusy(error);
}
