import type { BuildStatus } from '../../crds/environment.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { LastOutput } from '../workloads/last-output.ts';
import type { BuildRun } from './build-run.ts';
import type { PlannedVersion } from './planner.ts';
import type { Planning } from './planning.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Services } from './services.ts';
import type { EnvironmentStatuses } from './statuses.ts';
import { userMustAct } from './user-must-act.ts';
import type { Version } from './version.ts';

export interface BuildingParts {
  planning: Planning;
  builds: BuildRun;
  services: Services;
  statuses: EnvironmentStatuses;
  lastOutput: Pick<LastOutput, 'of'>;
  rolloutDeadlineSeconds: number;
}

/** From a build that was asked for to services that run: images, rollout, and the end of it, good or bad. */
export class Building {
  readonly #parts: BuildingParts;

  constructor(parts: BuildingParts) {
    this.#parts = parts;
  }

  /** A build asked for while one runs joins it, or takes its place when what it would build has changed since. */
  async startPending(scope: EnvironmentScope): Promise<void> {
    const { planning, builds, statuses } = this.#parts;
    if (!scope.isBuildPending) return;
    await planning.lookUpRepository(scope);
    const running = scope.runningBuild;
    if (running) {
      const newest = await planning.newest(scope);
      // It stays asked for: what is built now may be the commit before.
      if (newest === 'busy') return;
      if (newest === undefined || running.version === undefined || running.version === newest.version) {
        builds.join(scope);
        return;
      }
      await builds.finish(scope, 'superseded', whatMoved(running, newest));
    }
    await builds.start(scope, scope.justPlanned);
    await statuses.write(scope);
  }

  /** Takes the running build as far as it goes now. */
  async advance(scope: EnvironmentScope): Promise<void> {
    const { builds } = this.#parts;
    if (!scope.runningBuild) return;
    try {
      const version = await this.#versionToBuild(scope);
      if (await this.#hasImages(scope, version)) await this.#rollOut(scope, version);
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      await builds.fail(scope, error);
    }
  }

  async #versionToBuild(scope: EnvironmentScope): Promise<Version> {
    const { planning, builds } = this.#parts;
    const known = await this.#knownVersion(scope);
    const version = known ?? (await planning.plan(scope));
    if (scope.runningBuild?.version !== version.id) {
      await builds.takeVersion(scope, version);
      scope.planned(version);
    }
    return version;
  }

  /** What the running build was planned as. Where that had other rights than its code has now, another build takes its place. */
  async #knownVersion(scope: EnvironmentScope): Promise<Version | undefined> {
    const { planning, builds, statuses } = this.#parts;
    const version = await planning.find(scope, scope.runningBuild?.version);
    if (version?.trusted === undefined || version.trusted === scope.isTrusted) return version;
    const now = scope.isTrusted ? 'is trusted now' : 'is not trusted any more';
    await builds.finish(scope, 'superseded', `the pull request ${now}`);
    await builds.start(scope, undefined);
    await statuses.write(scope);
    return undefined;
  }

  async #hasImages(scope: EnvironmentScope, version: Version): Promise<boolean> {
    const { planning, builds } = this.#parts;
    if (scope.runningBuild?.images) return true;
    await planning.lookUpRepository(scope);
    return builds.buildImages(scope, version);
  }

  /** The build ends when its services run, or cannot, and its Job is over. */
  async #rollOut(scope: EnvironmentScope, version: Version): Promise<void> {
    const isJobOver = await this.#isJobOver(scope, version);
    const end = await this.#endOfRollout(scope, version);
    if (end === undefined || !isJobOver) return;
    if (end instanceof Stalled) {
      await this.#keepOutput(scope, version);
      throw end;
    }
    await this.#parts.builds.finish(scope, 'succeeded', end);
  }

  /** What the services wrote that did not come up goes into the build's log: their pods go with it. */
  async #keepOutput(scope: EnvironmentScope, version: Version): Promise<void> {
    const { planning, builds, lastOutput } = this.#parts;
    const services = scope.services.progress?.services.filter(({ ready }) => !ready).map(({ name }) => name) ?? [];
    if (services.length === 0) return;
    try {
      await planning.lookUpRepository(scope);
    } catch (cause) {
      if (!(cause instanceof Stalled) && !(cause instanceof Waiting)) throw cause;
      const words = 'what the services wrote is not shown: the secrets in it are not known, since';
      await builds.note(scope, 'output', `${words} ${cause.message}`);
      return;
    }
    for (const output of await lastOutput.of(scope.namespace, services))
      await builds.keepOutput(scope, version, output);
  }

  /** Follows the Job's log while it may be written yet. */
  async #isJobOver(scope: EnvironmentScope, version: Version): Promise<boolean> {
    const { builds } = this.#parts;
    const leftMs = builds.partingMs(scope);
    if (leftMs === 0) return true;
    const isOver = (await this.#maySeeLog(scope)) && builds.isJobOver(scope, version);
    if (!isOver) scope.lookAgainIn(leftMs);
    return isOver;
  }

  /** Whether it is known what the log is not to show: an operator that comes after reads it from the configuration. */
  async #maySeeLog(scope: EnvironmentScope): Promise<boolean> {
    const { planning, builds } = this.#parts;
    try {
      if (!builds.hasLog(scope)) await planning.lookUpRepository(scope);
      return true;
    } catch (cause) {
      if (cause instanceof Stalled || cause instanceof Waiting) return false;
      throw cause;
    }
  }

  /** What runs, or why it does not; undefined while that is not known. */
  async #endOfRollout(scope: EnvironmentScope, version: Version): Promise<string | Stalled | undefined> {
    const { builds, services, rolloutDeadlineSeconds } = this.#parts;
    const build = scope.runningBuild;
    if (!build) return undefined;
    try {
      const progress = await services.rollOut(scope, version, build);
      if (progress.failures.length > 0) return new Stalled('JobFailed', progress.failures.join('; '));
      if (!progress.done) {
        builds.checkRolloutDeadline(scope, progress, rolloutDeadlineSeconds);
        return undefined;
      }
      await services.prune(scope, version, build);
      return whatRuns(progress.services.length);
    } catch (cause) {
      const error = userMustAct(cause);
      if (error instanceof Stalled) return error;
      throw error;
    }
  }
}

function whatRuns(count: number): string {
  return count === 1 ? 'the one service runs' : `all ${count} services run`;
}

function whatMoved(running: BuildStatus, newest: PlannedVersion): string {
  if (running.commit === newest.commit) return 'the variables or the settings of the repository have changed';
  return `the ref has moved on to ${newest.commit.slice(0, 12)}`;
}
