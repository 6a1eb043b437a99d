import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { includedCommits } from '../../../../crds/included-repository.ts';
import { awaitedImages } from '../../../images/awaited/awaited-images.ts';
import { ASK_AGAIN_MS, type ImageWaits } from '../../../images/awaited/image-waits.ts';
import { planWait } from '../../../images/awaited/wait-plan.ts';
import type { RegistryAuths } from '../../../images/registry/docker-config.ts';
import { Waiting } from '../../../shared/errors.ts';
import type { Revision } from '../revision/revision.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { type BuildLog, buildId } from './build-log.ts';

export interface AwaitedImagesPhaseOptions {
  waits: Pick<ImageWaits, 'look' | 'end'>;
  log: BuildLog;
  /** Returns the credentials with which the environment's pods pull images. */
  pullAuths: (scope: EnvironmentScope) => Promise<RegistryAuths>;
  imageDeadlineSeconds: number;
}

/** Waits for images that another system builds from the commit, then starts the rollout. */
export class AwaitedImagesPhase {
  readonly #options: AwaitedImagesPhaseOptions;

  constructor(options: AwaitedImagesPhaseOptions) {
    this.#options = options;
  }

  /** Fails with Waiting until the images exist, and with Stalled when their deadline has passed. */
  async run(
    scope: EnvironmentScope,
    { commit, repositories, serviceFile }: Revision,
  ): Promise<PhaseResult<'build', never>> {
    const build = scope.runningBuild;
    if (!build?.images || build.rolloutStartedAt !== undefined) return {};
    const { log, waits, imageDeadlineSeconds, pullAuths } = this.#options;
    const id = buildId(scope.environment, build.number);
    const wait = { buildId: id, environmentKey: scope.key, group: scope.id.group, auths: () => pullAuths(scope) };
    const included = includedCommits(repositories).map((one) => one.commit);
    const awaited = awaitedImages([commit, ...included], serviceFile);
    const plan = planWait({
      awaited,
      lookups: new Map(awaited.map(({ image, reference }) => [image, waits.look({ ...wait, image, reference })])),
      startedAt: new Date(build.startedAt),
      deadlineSeconds: imageDeadlineSeconds,
      hasCredentials: scope.isTrusted,
      now: scope.now,
    });
    if (!plan.isOver) return this.#wait(scope, build, plan);
    waits.end(id);
    for (const { image } of plan.unknown) {
      const line = `the image ${image} is not waited for: its registry has a private address. An administrator can permit it (chart value builder.privateEgress)`;
      await log.note(scope, `unknown-${image}`, line);
    }
    const next = scope.isAsleep ? 'the services start when the environment wakes' : 'the services are being rolled out';
    await log.note(scope, 'images', `all images are in the registry; ${next}`);
    const images = [...build.images, ...plan.images].sort((a, b) => (a.service < b.service ? -1 : 1));
    return { status: { build: { ...build, message: undefined, images, rolloutStartedAt: scope.now.toISOString() } } };
  }

  /** A new operator knows nothing of the images at first, and repeats what the former one reported. */
  async #wait(
    scope: EnvironmentScope,
    build: BuildStatus,
    { message = build.message, leftMs }: { message: string | undefined; leftMs: number },
  ): Promise<PhaseResult<'build', never>> {
    const requeueAfterMs = Math.min(Math.max(leftMs, 1000), ASK_AGAIN_MS);
    if (message === undefined) return { requeueAfterMs };
    await this.#options.log.note(scope, message, message);
    return {
      status: { build: { ...build, message } },
      failure: new Waiting('WaitingForImages', `build ${build.number}: ${message}`, requeueAfterMs),
    };
  }
}
