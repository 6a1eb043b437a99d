import type { BuildResult, BuildStatus } from '../../../../crds/environment-build.ts';
import type { ImageBuilder } from '../../../images/build/image-builder.ts';
import type { ImageWaits } from '../../../images/awaited/image-waits.ts';
import type { Stalled } from '../../../shared/errors.ts';
import { type BuildLog, buildId } from './build-log.ts';
import { nextBuild, withFinished } from './build-status.ts';
import type { Masking } from '../status/masking.ts';
import { combine } from '../scope/contribution.ts';
import type { PhaseResult } from '../scope/phase.ts';
import { CommitRefused } from '../revision/plan-request.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';

export interface BuildRecorderOptions {
  imageBuilder: Pick<ImageBuilder, 'ended'>;
  waits: Pick<ImageWaits, 'end'>;
  log: BuildLog;
  masking: Pick<Masking, 'stalled'>;
}

/** Status fields that starting and finishing a build change. */
export type BuildField = 'build' | 'builds' | 'deployed' | 'activation' | 'repositories';
export type BuildingResult = PhaseResult<BuildField, 'Built'>;

const finishReasons = {
  succeeded: 'Succeeded',
  failed: 'BuildFailed',
  superseded: 'Superseded',
  cancelled: 'Cancelled',
} as const;

/** Records in the status and in a build's log that the build starts or has finished. */
export class BuildRecorder {
  readonly #options: BuildRecorderOptions;

  constructor(options: BuildRecorderOptions) {
    this.#options = options;
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
    if (!(error instanceof CommitRefused)) return this.finish(scope, 'failed', message, reason, commit);
    const finished = await this.finish(scope, 'failed', message, reason, error.commit);
    // A push to one of them can fix it, so the next sync of each must find the environment.
    if (!error.repositories) return finished;
    return { ...finished, status: { ...finished.status, repositories: [...error.repositories] } };
  }

  /** Finishes the build in the status and in its log; BuildPhase.cleanUp() follows. `reason`: why it failed. */
  async finish(
    scope: EnvironmentScope,
    result: Exclude<BuildResult, 'running'>,
    message: string,
    reason: string = finishReasons[result],
    commit?: string,
  ): Promise<BuildingResult> {
    const build = scope.runningBuild;
    if (!build) return {};
    const { imageBuilder, waits, log } = this.#options;
    const finishedAt = scope.now.toISOString();
    const finished: BuildStatus = { ...build, commit: build.commit ?? commit, result, finishedAt, message };
    const id = buildId(scope.environment, build.number);
    imageBuilder.ended(id);
    waits.end(id);
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

  /** Finishes the running build and starts another one. */
  async supersede(scope: EnvironmentScope, why: string): Promise<BuildingResult> {
    const finished = await this.finish(scope, 'superseded', why);
    return { ...combine(finished, await this.start(scope.with(finished))), write: true };
  }
}
