import type { BuildStatus } from '../../../../crds/environment-build.ts';
import type { ImageBuilder } from '../../../images/build/image-builder.ts';
import type { LastOutput } from '../../../services/diagnosis/last-output.ts';
import { UNREAD } from '../../../images/build/build-request.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { BuildLog } from './build-log.ts';
import type { BuildField, BuildingResult, BuildRecorder } from './build-recorder.ts';
import { andThen, type PhaseResult, runPhases, soonest } from '../scope/phase.ts';
import { rolloutDeadline } from './rollout-failure.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Services } from '../services/services.ts';
import type { Revision } from '../revision/revision.ts';

export interface RolloutPhaseOptions {
  imageBuilder: Pick<ImageBuilder, 'gracePeriodMs' | 'hasPod' | 'isOver'>;
  log: BuildLog;
  recorder: Pick<BuildRecorder, 'finish'>;
  services: Pick<Services, 'rollOut' | 'prune'>;
  lastOutput: Pick<LastOutput, 'of'>;
  rolloutDeadlineSeconds: number;
}

type RolloutField = BuildField | 'services' | 'aliases';
type RolloutCondition = 'Built' | 'Available';

const asleepMessage = 'the images are built; the services start when the environment wakes';

/** Rolls out a build's images. The build ends when the services are ready or cannot become ready, and its Job has finished. */
export class RolloutPhase {
  readonly #options: RolloutPhaseOptions;

  constructor(options: RolloutPhaseOptions) {
    this.#options = options;
  }

  /** Fails with Stalled when the services cannot become ready. */
  async run(scope: EnvironmentScope, revision: Revision): Promise<PhaseResult<RolloutField, RolloutCondition>> {
    const build = scope.runningBuild;
    if (build?.rolloutStartedAt === undefined) return {};
    const job = await this.#followJob(scope, revision);
    if (scope.isAsleep) {
      if (!job.isOver) return job;
      await this.#noteUnread(scope, revision);
      return this.#options.recorder.finish(scope, 'succeeded', asleepMessage);
    }
    const { failure, ...rolledOut } = await runPhases<RolloutField, RolloutCondition>(
      [
        (current) => this.#options.services.rollOut(current, revision, build),
        (current) => this.#check(current, revision, build),
      ],
      scope,
    );
    const result = { ...rolledOut, requeueAfterMs: soonest(job.requeueAfterMs, rolledOut.requeueAfterMs) };
    if (failure !== undefined && !(failure instanceof Stalled)) return { ...result, failure };
    const isReady = rolledOut.observed?.progress?.done ?? false;
    if (!job.isOver || (failure === undefined && !isReady)) return result;
    return andThen(scope, result, (current) => this.#end(current, revision, failure));
  }

  /** Throws Stalled when the services cannot become ready. */
  async #check(scope: EnvironmentScope, revision: Revision, build: BuildStatus): Promise<PhaseResult<never, never>> {
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

  async #end(scope: EnvironmentScope, revision: Revision, failure?: Stalled): Promise<BuildingResult> {
    await this.#noteUnread(scope, revision);
    const services = scope.contributed.observed.progress?.services ?? [];
    if (!failure) return this.#options.recorder.finish(scope, 'succeeded', whatRuns(services.length));
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
    const { imageBuilder } = this.#options;
    const { namespace, runningBuild: build, now } = scope;
    if (build?.rolloutStartedAt === undefined) return { isOver: true };
    const { number } = build;
    const leftMs = imageBuilder.gracePeriodMs({ namespace, number }, new Date(build.rolloutStartedAt), now);
    if (leftMs === 0) return { isOver: true };
    const isOver = await this.#isLogRead(scope, revision, build);
    return isOver ? { isOver } : { isOver, requeueAfterMs: leftMs };
  }

  /** Says in the log that its last lines are missing, if the Job or the reading of its log took too long. */
  async #noteUnread(scope: EnvironmentScope, revision: Revision): Promise<void> {
    const build = scope.runningBuild;
    if (!build || (await this.#isLogRead(scope, revision, build))) return;
    await this.#options.log.note(scope, 'unread', UNREAD);
  }

  async #isLogRead(scope: EnvironmentScope, revision: Revision, build: BuildStatus): Promise<boolean> {
    const { imageBuilder, log } = this.#options;
    const { namespace } = scope;
    const { number } = build;
    if (!imageBuilder.hasPod({ namespace, number })) return true;
    if (!(await this.#canSeeLog(scope))) return false;
    return imageBuilder.isOver({ namespace, number, log: log.open(scope, build, revision) });
  }

  /** Whether the secrets to mask are known: an operator that takes over reads them from the configuration. */
  async #canSeeLog(scope: EnvironmentScope): Promise<boolean> {
    try {
      if (!this.#options.log.isOpen(scope)) await scope.readConfiguration();
      return true;
    } catch (cause) {
      if (cause instanceof Stalled || cause instanceof Waiting) return false;
      throw cause;
    }
  }
}

function whatRuns(count: number): string {
  return count === 1 ? 'the only service is running' : `all ${count} services are running`;
}
