import type { BuildResult, BuildStatus, EnvironmentStatus } from '../../../../crds/environment.ts';
import { newestRequestId } from '../../../../crds/requests.ts';
import type { BuildRequest } from '../../../images/build/build-request.ts';
import type { ImageBuilder } from '../../../images/build/image-builder.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { LastOutput } from '../../../services/diagnosis/last-output.ts';
import { type BuildLog, buildId } from './build-log.ts';
import { newestBuildRequest, nextBuild, whatMoved, withFinished } from './build-record.ts';
import type { Masking } from '../status/masking.ts';
import { setUpFrom } from '../scope/contents.ts';
import { combine } from '../scope/contribution.ts';
import { andThen, type PhaseResult, runPhases, soonest } from '../scope/phase.ts';
import { CommitRefused, type RevisionPlanner } from '../revision/revision-planner.ts';
import { rolloutDeadline } from './rollout-deadline.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Services } from '../services/services.ts';
import type { Revision } from '../revision/revision.ts';

export interface BuildPhaseOptions {
  imageBuilder: Pick<ImageBuilder, 'build' | 'gracePeriodMs' | 'isOver' | 'ended' | 'cleanUp'>;
  log: BuildLog;
  masking: Pick<Masking, 'stalled'>;
  planner: Pick<RevisionPlanner, 'plan' | 'newest' | 'find'>;
  services: Pick<Services, 'rollOut' | 'prune'>;
  lastOutput: Pick<LastOutput, 'of'>;
  rolloutDeadlineSeconds: number;
}

/** Status fields that starting and finishing a build change. */
export type BuildField = 'build' | 'builds' | 'deployed' | 'activation';
export type BuildingResult = PhaseResult<BuildField, 'Built'>;
type AdvanceField = BuildField | 'services' | 'aliases' | 'webURL' | 'commit' | 'revision';
type AdvanceCondition = 'Built' | 'Available' | 'Created';
type AdvanceResult = PhaseResult<AdvanceField, AdvanceCondition>;

const finishReasons = {
  succeeded: 'Succeeded',
  failed: 'BuildFailed',
  superseded: 'Superseded',
  cancelled: 'Cancelled',
} as const;

/**
 * Runs an environment's builds from the request to deployed services, and reports them in the status and the build's
 * log.
 */
export class BuildPhase {
  readonly #options: BuildPhaseOptions;

  constructor(options: BuildPhaseOptions) {
    this.#options = options;
  }

  /**
   * Starts a requested build. A request during a running build joins it, or supersedes it if what it would build has
   * changed.
   */
  async startRequested(scope: EnvironmentScope): Promise<BuildingResult> {
    const { planner } = this.#options;
    if (!scope.isBuildPending) return {};
    await scope.readConfiguration();
    const running = scope.runningBuild;
    if (!running) return { ...(await this.start(scope, scope.contributed.observed.planned)), write: true };
    const newest = await planner.newest(await scope.planRequest());
    // The request stays pending: the running build may be of the commit before.
    if (newest.retryAfterMs !== undefined) return { requeueAfterMs: newest.retryAfterMs };
    if (newest.planned === undefined || [undefined, newest.planned.revision].includes(running.revision)) {
      return joined(scope.status);
    }
    return this.#supersede(scope, whatMoved(running, newest.planned));
  }

  /** Replaces the running build by another one if the trust of its revision differs from that of its code now. */
  async replaceByTrust(scope: EnvironmentScope): Promise<BuildingResult> {
    const revision = await this.#options.planner.find(scope.location(), scope.runningBuild?.revision);
    if (revision?.trusted === undefined || revision.trusted === scope.isTrusted) return {};
    return this.#supersede(scope, `the pull request ${scope.isTrusted ? 'is trusted now' : 'is no longer trusted'}`);
  }

  /** Advances the running build as far as possible. */
  async advance(scope: EnvironmentScope): Promise<AdvanceResult> {
    if (!scope.runningBuild) return {};
    const { failure, ...result } = await runPhases([(current) => this.#advance(current)], scope);
    if (!(failure instanceof Stalled)) return { ...result, failure };
    return andThen(scope, result, (current) => this.fail(current, failure));
  }

  /** Starts the next build. `planned`: the revision, if this reconcile has planned it. */
  async start(scope: EnvironmentScope, planned?: Revision): Promise<BuildingResult> {
    const { log } = this.#options;
    const { spec } = scope.environment;
    const build = nextBuild(spec, scope.status, planned, scope.now);
    const { activation } = scope.status;
    const started = {
      status: { build, activation: activation && { ...activation, buildPending: false, rebuild: undefined } },
      conditions: { Built: { status: 'Unknown', reason: 'Building', message: `build ${build.number} is under way` } },
    } as const;
    const current = scope.with(started);
    await log.note(current, 'start', `build ${build.number} of the ${spec.gitRef.type} ${spec.gitRef.name}`);
    await log.noteCommit(current);
    return started;
  }

  /**
   * Finishes a build as failed: what its containers wrote goes into status and log without secrets. `commit`: the
   * commit that was read, if the error does not name it.
   */
  async fail(scope: EnvironmentScope, error: Stalled, commit?: string): Promise<BuildingResult> {
    const { message, reason } = await this.#options.masking.stalled(scope, scope.runningBuild?.revision, error);
    return this.finish(scope, 'failed', message, reason, error instanceof CommitRefused ? error.commit : commit);
  }

  /** Finishes the build in the status and in its log; cleanUp() follows. `reason`: why it failed. */
  async finish(
    scope: EnvironmentScope,
    result: Exclude<BuildResult, 'running'>,
    message: string,
    reason: string = finishReasons[result],
    commit?: string,
  ): Promise<BuildingResult> {
    const build = scope.runningBuild;
    if (!build) return {};
    const { imageBuilder, log } = this.#options;
    const finishedAt = scope.now.toISOString();
    const finished: BuildStatus = { ...build, commit: build.commit ?? commit, result, finishedAt, message };
    imageBuilder.ended(buildId(scope.environment, build.number));
    await log.end(scope, build, result, message);
    const isBuilt = result === 'succeeded';
    return {
      status: {
        build: finished,
        builds: withFinished(scope.status.builds, finished, finishedAt),
        ...(isBuilt && { deployed: finished }),
      },
      conditions: {
        Built: { status: isBuilt ? 'True' : 'False', reason, message: `build ${build.number}: ${message}` },
      },
    };
  }

  /** Deletes what finished builds left in the namespace. */
  cleanUp(scope: EnvironmentScope): Promise<void> {
    return this.#options.imageBuilder.cleanUp(scope.namespace, scope.runningBuild?.number);
  }

  async #supersede(scope: EnvironmentScope, why: string): Promise<BuildingResult> {
    const finished = await this.finish(scope, 'superseded', why);
    return { ...combine(finished, await this.start(scope.with(finished))), write: true };
  }

  async #advance(scope: EnvironmentScope): Promise<AdvanceResult> {
    const { planner } = this.#options;
    const known = await planner.find(scope.location(), scope.runningBuild?.revision);
    const revision = known ?? (await planner.plan(await scope.planRequest()));
    return runPhases<AdvanceField, AdvanceCondition>(
      [
        (current) => this.#recordRevision(current, revision),
        (current) => this.#bringImages(current, revision),
        (current) => this.#rollOut(current, revision),
      ],
      scope,
    );
  }

  async #recordRevision(scope: EnvironmentScope, revision: Revision): Promise<AdvanceResult> {
    const { log } = this.#options;
    const build = scope.runningBuild;
    if (!build || build.revision === revision.id) return {};
    const recorded = setUpFrom(scope, revision);
    const status = { ...recorded.status, build: { ...build, revision: revision.id, commit: revision.commit } };
    log.close(scope);
    await log.noteCommit(scope.with({ status }), revision);
    return { ...recorded, status };
  }

  /** The build has no images yet while its Job is running. Throws Stalled when the build has failed. */
  async #bringImages(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult<'build', never>> {
    const build = scope.runningBuild;
    if (!build || build.images) return {};
    const { imageBuilder, log } = this.#options;
    const request = await this.#request(scope, build, revision);
    const { built, requeueAfterMs } = await imageBuilder.build(request, scope.now);
    if (!built) return { requeueAfterMs };
    const tests = revision.serviceFile.tests?.length;
    const named = tests === undefined ? {} : { tests };
    await log.note(scope, 'images', 'all images are in the registry; the services are being rolled out');
    return { status: { build: { ...build, ...built, ...named, rolloutStartedAt: scope.now.toISOString() } } };
  }

  /** Rolls out the services. The build ends when they are ready or cannot become ready, and its Job has finished. */
  async #rollOut(scope: EnvironmentScope, revision: Revision): Promise<AdvanceResult> {
    const build = scope.runningBuild;
    if (!build?.images) return {};
    const job = await this.#followJob(scope, revision);
    const { failure, ...rolledOut } = await runPhases<AdvanceField, AdvanceCondition>(
      [
        (current) => this.#options.services.rollOut(current, revision, build),
        (current) => this.#checkRollout(current, revision, build),
      ],
      scope,
    );
    const result = { ...rolledOut, requeueAfterMs: soonest(job.requeueAfterMs, rolledOut.requeueAfterMs) };
    if (failure !== undefined && !(failure instanceof Stalled)) return { ...result, failure };
    const isReady = rolledOut.observed?.progress?.done ?? false;
    if (!job.isOver || (failure === undefined && !isReady)) return result;
    return andThen(scope, result, (current) => this.#endRollout(current, revision, failure));
  }

  /** Throws Stalled when the services cannot become ready. */
  async #checkRollout(
    scope: EnvironmentScope,
    revision: Revision,
    build: BuildStatus,
  ): Promise<PhaseResult<never, never>> {
    const { services, rolloutDeadlineSeconds } = this.#options;
    const { progress } = scope.contributed.observed;
    if (!progress) return {};
    if (progress.failures.length > 0) throw new Stalled('JobFailed', progress.failures.join('; '));
    if (!progress.done) {
      const { givesUpAt, requeueAfterMs } = rolloutDeadline(build, progress, rolloutDeadlineSeconds, scope.now);
      return { observed: { givesUpAt }, requeueAfterMs };
    }
    await services.prune(scope, revision, build);
    return {};
  }

  async #endRollout(scope: EnvironmentScope, revision: Revision, failure?: Stalled): Promise<BuildingResult> {
    const services = scope.contributed.observed.progress?.services ?? [];
    if (!failure) return this.finish(scope, 'succeeded', whatRuns(services.length));
    await this.#keepOutput(scope, revision);
    return { failure };
  }

  /** Adds the output of services that did not become ready to the build's log, before their pods are deleted. */
  async #keepOutput(scope: EnvironmentScope, revision: Revision): Promise<void> {
    const { log, lastOutput } = this.#options;
    const services =
      scope.contributed.observed.progress?.services.filter(({ ready }) => !ready).map(({ name }) => name) ?? [];
    if (services.length === 0) return;
    try {
      await scope.readConfiguration();
    } catch (cause) {
      if (!(cause instanceof Stalled) && !(cause instanceof Waiting)) throw cause;
      const words = 'the output of the services is hidden because the secrets in it are unknown:';
      await log.note(scope, 'output', `${words} ${cause.message}`);
      return;
    }
    for (const output of await lastOutput.of(scope.namespace, services)) await log.keepOutput(scope, revision, output);
  }

  /** Follows the Job's log until it is complete. */
  async #followJob(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult & { isOver: boolean }> {
    const { imageBuilder, log } = this.#options;
    const { namespace, runningBuild: build, now } = scope;
    if (build?.rolloutStartedAt === undefined) return { isOver: true };
    const { number } = build;
    const leftMs = imageBuilder.gracePeriodMs({ namespace, number }, new Date(build.rolloutStartedAt), now);
    if (leftMs === 0) return { isOver: true };
    const isOver =
      (await this.#maySeeLog(scope)) &&
      imageBuilder.isOver({ namespace, number, log: log.open(scope, build, revision) });
    return isOver ? { isOver } : { isOver, requeueAfterMs: leftMs };
  }

  /** Whether the secrets to mask are known: an operator that takes over reads them from the configuration. */
  async #maySeeLog(scope: EnvironmentScope): Promise<boolean> {
    try {
      if (!this.#options.log.isOpen(scope)) await scope.readConfiguration();
      return true;
    } catch (cause) {
      if (cause instanceof Stalled || cause instanceof Waiting) return false;
      throw cause;
    }
  }

  async #request(scope: EnvironmentScope, build: BuildStatus, revision: Revision): Promise<BuildRequest> {
    const { repositoryUid, registrySecrets } = await scope.readConfiguration();
    return {
      namespace: scope.namespace,
      labels: scope.labels,
      number: build.number,
      buildId: buildId(scope.environment, build.number),
      requestId: newestRequestId(scope.environment.metadata.annotations),
      environment: { name: scope.id.name, uid: scope.uid },
      repository: scope.repository,
      repositoryUid,
      locate: () => scope.locate(),
      registrySecrets,
      commit: revision.commit,
      trusted: scope.isTrusted,
      noCache: build.noCache ?? false,
      images: revision.images,
      log: this.#options.log.open(scope, build, revision),
    };
  }
}

/** The requested build is the one that is running. */
function joined({ activation, build, handledRequests }: Readonly<EnvironmentStatus>): BuildingResult {
  const request = newestBuildRequest(handledRequests);
  return {
    status: {
      ...(activation && { activation: { ...activation, buildPending: false } }),
      ...(build && request !== undefined && { build: { ...build, request } }),
    },
  };
}

function whatRuns(count: number): string {
  return count === 1 ? 'the only service is running' : `all ${count} services are running`;
}
