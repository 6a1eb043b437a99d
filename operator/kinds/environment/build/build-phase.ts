import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { newestRequestId } from '../../../../crds/requests.ts';
import type { BuildRequest } from '../../../images/build/build-request.ts';
import type { ImageBuilder } from '../../../images/build/image-builder.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { AwaitedImagesPhase } from './awaited-images-phase.ts';
import { type BuildLog, buildId } from './build-log.ts';
import { includedSources } from './included-sources.ts';
import { newestBuildRequest, plannedFields, whatMoved } from './build-status.ts';
import type { BuildField, BuildingResult, BuildRecorder } from './build-recorder.ts';
import { setUpFrom } from '../scope/contents.ts';
import { andThen, type PhaseResult, runPhases } from '../scope/phase.ts';
import { ApprovalMissing } from '../revision/approval.ts';
import type { RevisionPlanner } from '../revision/revision-planner.ts';
import type { RolloutPhase } from './rollout-phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';

export interface BuildPhaseOptions {
  imageBuilder: Pick<ImageBuilder, 'build' | 'cleanUp'>;
  log: BuildLog;
  planner: Pick<RevisionPlanner, 'plan' | 'newest' | 'find'>;
  recorder: BuildRecorder;
  awaited: Pick<AwaitedImagesPhase, 'run'>;
  rollout: RolloutPhase;
}

type AdvanceField = BuildField | 'services' | 'aliases' | 'webURL' | 'commit' | 'revision';
type AdvanceCondition = 'Built' | 'Available' | 'Created';
type AdvanceResult = PhaseResult<AdvanceField, AdvanceCondition>;

/** Runs an environment's builds from the request to deployed services. */
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
    const { planner, recorder } = this.#options;
    if (!scope.isBuildPending) return {};
    await scope.readConfiguration();
    const running = scope.runningBuild;
    if (!running) return { ...(await recorder.start(scope, scope.contributed.observed.planned)), write: true };
    const newest = await planner.newest(await scope.planRequest());
    // The request stays pending: the running build may have started from the previous commit.
    if (newest.retryAfterMs !== undefined) return { requeueAfterMs: newest.retryAfterMs };
    if (newest.planned === undefined || [undefined, ...newest.planned.revisions].includes(running.revision)) {
      return joined(scope.status);
    }
    return recorder.supersede(scope, whatMoved(running, newest.planned));
  }

  /** Replaces the running build by another one if the trust of its revision differs from that of its code now. */
  async replaceByTrust(scope: EnvironmentScope): Promise<BuildingResult> {
    const revision = await this.#options.planner.find(scope.location(), scope.runningBuild?.revision);
    if (revision?.trusted === undefined || revision.trusted === scope.isTrusted) return {};
    return this.#options.recorder.supersede(
      scope,
      `the pull request ${scope.isTrusted ? 'is trusted now' : 'is no longer trusted'}`,
    );
  }

  /** Advances the running build as far as possible. */
  async advance(scope: EnvironmentScope): Promise<AdvanceResult> {
    if (!scope.runningBuild) return {};
    const { failure, ...result } = await runPhases([(current) => this.#advance(current)], scope);
    if (failure instanceof ApprovalMissing) return this.#putBack(scope, failure);
    if (!(failure instanceof Stalled)) return { ...result, failure };
    return andThen(scope, result, (current) => this.#options.recorder.fail(current, failure));
  }

  /** The ref moved to a commit that nobody has approved: the build is requested again, and waits without having started. */
  async #putBack(scope: EnvironmentScope, { message, afterMs }: ApprovalMissing): Promise<BuildingResult> {
    const finished = await this.#options.recorder.finish(scope, 'superseded', message);
    const { activation } = scope.status;
    const status = { ...finished.status, activation: activation && { ...activation, buildPending: true } };
    return { ...finished, status, requeueAfterMs: afterMs };
  }

  /** Deletes what finished builds left in the namespace. */
  cleanUp(scope: EnvironmentScope): Promise<void> {
    return this.#options.imageBuilder.cleanUp(scope.namespace, scope.runningBuild?.number);
  }

  async #advance(scope: EnvironmentScope): Promise<AdvanceResult> {
    const { planner, awaited, rollout } = this.#options;
    const known = await planner.find(scope.location(), scope.runningBuild?.revision);
    const revision = known ?? (await planner.plan(await scope.planRequest()));
    return runPhases<AdvanceField, AdvanceCondition>(
      [
        (current) => this.#recordRevision(current, revision),
        (current) => this.#bringImages(current, revision),
        (current) => awaited.run(current, revision),
        (current) => rollout.run(current, revision),
      ],
      scope,
    );
  }

  async #recordRevision(scope: EnvironmentScope, revision: Revision): Promise<AdvanceResult> {
    const { log } = this.#options;
    const build = scope.runningBuild;
    if (!build || build.revision === revision.id) return {};
    const recorded = setUpFrom(scope, revision);
    const status = { ...recorded.status, build: { ...build, ...plannedFields(revision) } };
    log.close(scope);
    await log.noteCommit(scope.with({ status }), revision);
    return { ...recorded, status };
  }

  /** The build has no images yet while its Job is running. Throws Stalled when the build has failed. */
  async #bringImages(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult<'build', never>> {
    const build = scope.runningBuild;
    if (!build || build.images) return {};
    const { imageBuilder } = this.#options;
    const request = await this.#request(scope, build, revision);
    const { built, requeueAfterMs } = await imageBuilder.build(request, scope.now);
    if (!built) return { requeueAfterMs };
    const tests = revision.serviceFile.tests?.length;
    const named = tests === undefined ? {} : { tests };
    return { status: { build: { ...build, ...built, ...named } } };
  }

  async #request(scope: EnvironmentScope, build: BuildStatus, revision: Revision): Promise<BuildRequest> {
    const { repositoryUid, registrySecrets } = await scope.readConfiguration();
    // Before the log is opened, which masks their passwords.
    const included = await includedSources(scope, revision);
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
      included,
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
