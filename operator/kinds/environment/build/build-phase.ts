import type { BuildResult, BuildStatus } from '../../../../crds/environment.ts';
import { newestRequestId } from '../../../../crds/requests.ts';
import type { BuildRequest } from '../../../images/build/build-request.ts';
import type { ImageBuilder } from '../../../images/build/image-builder.ts';
import { Stalled, userMustAct, Waiting } from '../../../shared/errors.ts';
import type { LastOutput } from '../../../services/diagnosis/last-output.ts';
import { type BuildLog, buildId } from './build-log.ts';
import { newestBuildRequest, previousTimes, triggerOf, whatMoved, withFinished } from './build-record.ts';
import type { Masking } from '../status/masking.ts';
import { type PhaseResult, soonest } from '../scope/phase.ts';
import { CommitRefused, type PlannedRevision, type RevisionPlanner } from '../revision/revision-planner.ts';
import { rolloutDeadline } from './rollout-deadline.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Services } from '../services/services.ts';
import type { EnvironmentStatuses } from '../status/statuses.ts';
import type { Revision } from '../revision/revision.ts';

export interface BuildPhaseOptions {
  imageBuilder: Pick<ImageBuilder, 'build' | 'gracePeriodMs' | 'isOver' | 'ended' | 'cleanUp'>;
  log: BuildLog;
  masking: Pick<Masking, 'stalled'>;
  planner: Pick<RevisionPlanner, 'plan' | 'newest' | 'find'>;
  services: Pick<Services, 'rollOut' | 'prune'>;
  statuses: Pick<EnvironmentStatuses, 'write'>;
  lastOutput: Pick<LastOutput, 'of'>;
  rolloutDeadlineSeconds: number;
}

/** How a rollout has ended; undefined while it is in progress. */
interface RolloutEnd extends PhaseResult {
  end?: string | Stalled;
}

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
  async startRequested(scope: EnvironmentScope, planned: PlannedRevision | undefined): Promise<PhaseResult> {
    const { planner, statuses } = this.#options;
    if (!scope.isBuildPending) return {};
    await scope.readConfiguration();
    const running = scope.runningBuild;
    if (running) {
      const newest = await planner.newest(await scope.planRequest());
      // The request stays pending: the running build may be of the commit before.
      if (newest.retryAfterMs !== undefined) return { requeueAfterMs: newest.retryAfterMs };
      if (newest.planned === undefined || [undefined, newest.planned.revision].includes(running.revision)) {
        join(scope);
        return {};
      }
      await this.finish(scope, 'superseded', whatMoved(running, newest.planned));
    }
    await this.start(scope, planned);
    await statuses.write(scope);
    return {};
  }

  /** Advances the running build as far as possible. */
  async advance(scope: EnvironmentScope): Promise<PhaseResult> {
    if (!scope.runningBuild) return {};
    try {
      const revision = await this.#revisionToBuild(scope);
      const { hasImages, requeueAfterMs } = await this.#bringImages(scope, revision);
      return hasImages ? await this.#rollOut(scope, revision) : { requeueAfterMs };
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      await this.fail(scope, error);
      return {};
    }
  }

  /** Starts the next build. `planned`: the revision, if this reconcile has planned it. */
  async start(scope: EnvironmentScope, planned?: PlannedRevision): Promise<void> {
    const { status } = scope;
    const { log } = this.#options;
    const number = (status.build?.number ?? 0) + 1;
    const previous = previousTimes(status.build);
    const trigger = triggerOf(scope.environment.spec, status);
    const request = newestBuildRequest(status.handledRequests);
    status.build = { number, result: 'running', trigger, request, startedAt: scope.now.toISOString(), ...planned };
    if (previous) status.build.previous = previous;
    if (status.activation?.rebuild) status.build.noCache = true;
    if (status.activation) status.activation = { ...status.activation, buildPending: false, rebuild: undefined };
    scope.conditions.report('Built', 'Unknown', 'Building', `build ${number} is under way`);
    const { gitRef } = scope.environment.spec;
    await log.note(scope, 'start', `build ${number} of the ${gitRef.type} ${gitRef.name}`);
    await log.noteCommit(scope);
  }

  /**
   * Finishes a build as failed: what its containers wrote goes into status and log without secrets. `commit`: the
   * commit that was read, if the error does not name it.
   */
  async fail(scope: EnvironmentScope, error: Stalled, commit?: string): Promise<void> {
    const { message, reason } = await this.#options.masking.stalled(scope, scope.runningBuild?.revision, error);
    await this.finish(scope, 'failed', message, reason, error instanceof CommitRefused ? error.commit : commit);
  }

  /** Finishes the build in the status and in its log; cleanUp() follows. `reason`: why it failed. */
  async finish(
    scope: EnvironmentScope,
    result: Exclude<BuildResult, 'running'>,
    message: string,
    reason: string = finishReasons[result],
    commit?: string,
  ): Promise<void> {
    const build = scope.runningBuild;
    if (!build) return;
    const { imageBuilder, log } = this.#options;
    const finishedAt = scope.now.toISOString();
    const finished: BuildStatus = { ...build, commit: build.commit ?? commit, result, finishedAt, message };
    scope.status.build = finished;
    scope.status.builds = withFinished(scope.status.builds, finished, finishedAt);
    const isBuilt = result === 'succeeded' ? 'True' : 'False';
    scope.conditions.report('Built', isBuilt, reason, `build ${build.number}: ${message}`);
    if (result === 'succeeded') scope.status.deployed = finished;
    imageBuilder.ended(buildId(scope.environment, build.number));
    await log.end(scope, build, result, message);
  }

  /** Deletes what finished builds left in the namespace. */
  cleanUp(scope: EnvironmentScope): Promise<void> {
    return this.#options.imageBuilder.cleanUp(scope.namespace, scope.runningBuild?.number);
  }

  async #revisionToBuild(scope: EnvironmentScope): Promise<Revision> {
    const { planner, log } = this.#options;
    const revision = (await this.#knownRevision(scope)) ?? (await planner.plan(await scope.planRequest()));
    const build = scope.runningBuild;
    if (build && build.revision !== revision.id) {
      scope.status.build = { ...build, revision: revision.id, commit: revision.commit };
      log.close(scope);
      await log.noteCommit(scope, revision);
      scope.planned(revision);
    }
    return revision;
  }

  /**
   * Returns the revision of the running build. If its trust differs from that of its code now, another build replaces
   * it.
   */
  async #knownRevision(scope: EnvironmentScope): Promise<Revision | undefined> {
    const { planner, statuses } = this.#options;
    const revision = await planner.find(scope.location(), scope.runningBuild?.revision);
    if (revision?.trusted === undefined || revision.trusted === scope.isTrusted) return revision;
    const now = scope.isTrusted ? 'is trusted now' : 'is no longer trusted';
    await this.finish(scope, 'superseded', `the pull request ${now}`);
    await this.start(scope);
    await statuses.write(scope);
    return undefined;
  }

  /** `hasImages` is false while the Job is running. Throws Stalled when the build has failed. */
  async #bringImages(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult & { hasImages: boolean }> {
    const build = scope.runningBuild;
    if (!build || build.images) return { hasImages: true };
    const { imageBuilder, log } = this.#options;
    const request = await this.#request(scope, build, revision);
    const { built, requeueAfterMs } = await imageBuilder.build(request, scope.now);
    if (!built) return { hasImages: false, requeueAfterMs };
    const tests = revision.serviceFile.tests?.length;
    const named = tests === undefined ? {} : { tests };
    scope.status.build = { ...build, ...built, ...named, rolloutStartedAt: scope.now.toISOString() };
    await log.note(scope, 'images', 'all images are in the registry; the services are being rolled out');
    return { hasImages: true };
  }

  /** Rolls out the services. The build ends when they are ready or cannot become ready, and its Job has finished. */
  async #rollOut(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult> {
    const job = await this.#followJob(scope, revision);
    const { end, requeueAfterMs } = await this.#endOfRollout(scope, revision);
    const result = { requeueAfterMs: soonest(job.requeueAfterMs, requeueAfterMs) };
    if (end === undefined || !job.isOver) return result;
    if (end instanceof Stalled) {
      await this.#keepOutput(scope, revision);
      throw end;
    }
    await this.finish(scope, 'succeeded', end);
    return result;
  }

  /** Adds the output of services that did not become ready to the build's log, before their pods are deleted. */
  async #keepOutput(scope: EnvironmentScope, revision: Revision): Promise<void> {
    const { log, lastOutput } = this.#options;
    const services = scope.services.progress?.services.filter(({ ready }) => !ready).map(({ name }) => name) ?? [];
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

  /** `end`: the message of a success, or the failure. */
  async #endOfRollout(scope: EnvironmentScope, revision: Revision): Promise<RolloutEnd> {
    const { services, rolloutDeadlineSeconds } = this.#options;
    const build = scope.runningBuild;
    if (!build) return {};
    try {
      const { progress, requeueAfterMs } = await services.rollOut(scope, revision, build);
      if (progress.failures.length > 0) {
        return { end: new Stalled('JobFailed', progress.failures.join('; ')), requeueAfterMs };
      }
      if (!progress.done) {
        const deadline = rolloutDeadline(build, progress, rolloutDeadlineSeconds, scope.now);
        scope.services.givesUpAt = deadline.givesUpAt;
        return { requeueAfterMs: soonest(requeueAfterMs, deadline.requeueAfterMs) };
      }
      await services.prune(scope, revision, build);
      return { end: whatRuns(progress.services.length), requeueAfterMs };
    } catch (cause) {
      const error = userMustAct(cause);
      if (error instanceof Stalled) return { end: error };
      throw error;
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
function join({ status }: EnvironmentScope): void {
  if (status.activation) status.activation = { ...status.activation, buildPending: false };
  const request = newestBuildRequest(status.handledRequests);
  if (status.build && request !== undefined) status.build = { ...status.build, request };
}

function whatRuns(count: number): string {
  return count === 1 ? 'the only service is running' : `all ${count} services are running`;
}
