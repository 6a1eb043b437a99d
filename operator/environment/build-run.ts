import type { BuildResult, BuildStatus, Environment } from '../../crds/environment.ts';
import { newestRequestId } from '../../crds/requests.ts';
import type { BuildRequest } from '../build/build-request.ts';
import type { ImageBuilds } from '../build/image-builds.ts';
import type { LogSession } from '../build/log-session.ts';
import type { LogSessions } from '../build/log-sessions.ts';
import { Stalled } from '../errors.ts';
import { newestBuildRequest, triggerOf, withFinished } from './build-record.ts';
import { type Masking, secretsOf } from './masking.ts';
import type { PlannedVersion } from './planner.ts';
import type { EnvironmentScope } from './scope.ts';
import type { ContainerOutput } from '../workloads/last-output.ts';
import type { RolloutProgress } from '../workloads/progress.ts';
import type { Version } from './version.ts';

const finishReasons = {
  succeeded: 'Succeeded',
  failed: 'BuildFailed',
  superseded: 'Superseded',
  cancelled: 'Cancelled',
} as const;

/** The course of one build as the Environment's status and its log tell it. */
export class BuildRun {
  readonly #imageBuilds: ImageBuilds;
  readonly #logs: LogSessions;
  readonly #masking: Masking;

  constructor(imageBuilds: ImageBuilds, logs: LogSessions, masking: Masking) {
    this.#imageBuilds = imageBuilds;
    this.#logs = logs;
    this.#masking = masking;
  }

  /** Opens the next build. `planned` is given when it has just been found out. */
  async start(scope: EnvironmentScope, planned: PlannedVersion | undefined): Promise<void> {
    const { status } = scope;
    const number = (status.build?.number ?? 0) + 1;
    const previous = timesOf(status.build);
    const trigger = triggerOf(scope.environment.spec, status);
    const request = newestBuildRequest(status.handledRequests);
    status.build = { number, result: 'running', trigger, request, startedAt: scope.now.toISOString(), ...planned };
    if (previous) status.build.previous = previous;
    if (status.activation?.rebuild) status.build.noCache = true;
    if (status.activation) status.activation = { ...status.activation, buildPending: false, rebuild: undefined };
    scope.conditions.report('Built', 'Unknown', 'Building', `build ${number} is under way`);
    const { gitRef } = scope.environment.spec;
    await this.note(scope, 'start', `build ${number} of the ${gitRef.type} ${gitRef.name}`);
    await this.#noteCommit(scope);
  }

  /** A build that was asked for is the one that runs already. */
  join(scope: EnvironmentScope): void {
    const { status } = scope;
    if (status.activation) status.activation = { ...status.activation, buildPending: false };
    const request = newestBuildRequest(status.handledRequests);
    if (status.build && request !== undefined) status.build = { ...status.build, request };
  }

  async takeVersion(scope: EnvironmentScope, version: Version): Promise<void> {
    const build = scope.runningBuild;
    if (!build) return;
    scope.status.build = { ...build, version: version.id, commit: version.commit };
    // Opened anew when it is known what the version's secrets are.
    this.#logs.close(logId(scope.environment, build.number));
    await this.#noteCommit(scope, version);
  }

  /** The log's own header: which commit it is of. */
  async #noteCommit(scope: EnvironmentScope, version?: Version): Promise<void> {
    const build = scope.runningBuild;
    if (build?.commit === undefined) return;
    const line = `commit ${build.commit}`;
    await this.#session(scope, build, version).note('commit', { service: '', stage: 'coppice', line });
  }

  /** Brings the images; false while the Job works. Throws Stalled when the build has failed. */
  async buildImages(scope: EnvironmentScope, version: Version): Promise<boolean> {
    const build = scope.runningBuild;
    if (!build) return true;
    const log = this.#session(scope, build, version);
    const built = await this.#imageBuilds.build(this.#request(scope, build, version, log), scope.now);
    if (!built) return false;
    const tests = version.serviceFile.tests?.length;
    const named = tests === undefined ? {} : { tests };
    scope.status.build = { ...build, ...built, ...named, rolloutStartedAt: scope.now.toISOString() };
    await this.note(scope, 'images', 'all images are in the registry, the services are rolled out');
    return true;
  }

  /** How long the Job of a build whose images are there may be at work yet. */
  partingMs({ namespace, runningBuild: build, now }: EnvironmentScope): number {
    if (build?.rolloutStartedAt === undefined) return 0;
    return this.#imageBuilds.partingMs({ namespace, number: build.number }, new Date(build.rolloutStartedAt), now);
  }

  /** Whether its log is written by this operator: what must not be seen in it is known. */
  hasLog(scope: EnvironmentScope): boolean {
    const build = scope.runningBuild;
    return build !== undefined && this.#logs.has(logId(scope.environment, build.number));
  }

  /** Whether the Job is over, and its log complete; follows it. */
  isJobOver(scope: EnvironmentScope, version: Version): boolean {
    const build = scope.runningBuild;
    if (!build) return true;
    const log = this.#session(scope, build, version);
    return this.#imageBuilds.isOver({ namespace: scope.namespace, number: build.number, log });
  }

  /**
   * Throws Stalled when the services have had their time, or nothing can change any more that they do not come up;
   * otherwise that is looked at again. Their time begins anew when a job has ended: jobs have a deadline of their own.
   */
  checkRolloutDeadline(
    scope: EnvironmentScope,
    { waitingFor, jobsEndAt, outlook }: Pick<RolloutProgress, 'waitingFor' | 'jobsEndAt' | 'outlook'>,
    deadlineSeconds: number,
  ): void {
    const now = scope.now.getTime();
    const rolloutStartedAt = Date.parse(scope.runningBuild?.rolloutStartedAt ?? scope.now.toISOString());
    const startedAt = Math.max(rolloutStartedAt, jobsEndAt?.getTime() ?? 0);
    const deadline = startedAt + deadlineSeconds * 1000;
    if (now >= deadline) {
      throw new Stalled('RolloutFailed', `not up after ${deadlineSeconds} s: ${waitingFor.join('; ')}`);
    }
    const failsAt = failureTime(outlook, deadline);
    if (failsAt !== undefined && failsAt <= now) {
      const seconds = Math.max(0, Math.round((now - rolloutStartedAt) / 1000));
      const words = `not up after ${seconds} s, and waiting longer changes nothing: ${waitingFor.join('; ')}`;
      throw new Stalled('RolloutFailed', words);
    }
    scope.lookAgainIn(Math.min(deadline, failsAt ?? deadline) - now);
    scope.services.givesUpAt = new Date(deadline);
  }

  /** A line of Coppice's own in the running build's log; once for each key. */
  async note(scope: EnvironmentScope, key: string, line: string): Promise<void> {
    const build = scope.runningBuild;
    if (!build) return;
    await this.#session(scope, build).note(key, { service: '', stage: 'coppice', line });
  }

  /** Adds what a container of a service has written to the running build's log; once for each source. */
  async keepOutput(scope: EnvironmentScope, version: Version, { source, lines }: ContainerOutput): Promise<void> {
    const build = scope.runningBuild;
    // Without the configuration it is not known what the log must not show.
    if (!build || !scope.configuration) return;
    await this.#session(scope, build, version).keep(source, lines);
  }

  /** Closes a build as failed, as finish() does: what its containers said goes into status and log without secrets. */
  async fail(scope: EnvironmentScope, error: Stalled): Promise<void> {
    const { message, reason } = await this.#masking.stalled(scope, scope.runningBuild?.version, error);
    await this.finish(scope, 'failed', message, reason);
  }

  /** Closes the build in the status and in its log; cleanUp() follows. `reason` says why one failed. */
  async finish(
    scope: EnvironmentScope,
    result: Exclude<BuildResult, 'running'>,
    message: string,
    reason: string = finishReasons[result],
  ): Promise<void> {
    const build = scope.runningBuild;
    if (!build) return;
    const commit = build.commit ?? (result === 'failed' ? scope.foundCommit : undefined);
    const finished: BuildStatus = { ...build, commit, result, finishedAt: scope.now.toISOString(), message };
    scope.status.build = finished;
    scope.status.builds = withFinished(scope.status.builds, finished, scope.now.toISOString());
    scope.conditions.report(
      'Built',
      result === 'succeeded' ? 'True' : 'False',
      reason,
      `build ${build.number}: ${message}`,
    );
    if (result === 'succeeded') scope.status.deployed = finished;
    this.#imageBuilds.ended(logId(scope.environment, build.number));
    await this.#session(scope, build).end(result, message);
    this.#logs.close(logId(scope.environment, build.number));
  }

  /** Takes away what builds that are over left in the namespace. */
  cleanUp(scope: EnvironmentScope): Promise<void> {
    return this.#imageBuilds.cleanUp(scope.namespace, scope.runningBuild?.number);
  }

  #session(scope: EnvironmentScope, build: BuildStatus, version?: Version): LogSession {
    return this.#logs.open({
      logId: logId(scope.environment, build.number),
      environmentKey: scope.key,
      namespace: scope.namespace,
      buildNumber: build.number,
      secrets: secretsOf(scope.configuration, version),
    });
  }

  #request(scope: EnvironmentScope, build: BuildStatus, version: Version, log: LogSession): BuildRequest {
    const { configuration } = scope;
    if (!configuration) throw new Error('the repository has not been looked up');
    return {
      namespace: scope.namespace,
      labels: scope.labels,
      number: build.number,
      buildId: logId(scope.environment, build.number),
      requestId: newestRequestId(scope.environment.metadata.annotations),
      environment: { name: scope.id.name, uid: scope.uid },
      repository: scope.repository,
      repositoryUid: configuration.repositoryUid,
      locate: () => scope.locate(),
      registrySecrets: configuration.registrySecrets,
      commit: version.commit,
      trusted: scope.isTrusted,
      noCache: build.noCache ?? false,
      images: version.images,
      log,
      lookAgainIn: (ms) => scope.lookAgainIn(ms),
    };
  }
}

/** When it is certain that services do not come up, in milliseconds since 1970. */
function failureTime(outlook: RolloutProgress['outlook'], deadline: number): number | undefined {
  // What is not started again before the deadline has had its last try.
  if ((outlook?.retriesAt?.getTime() ?? 0) >= deadline) return 0;
  return outlook?.failsAt?.getTime();
}

function timesOf(build: BuildStatus | undefined): BuildStatus['previous'] {
  if (build?.finishedAt === undefined) return build?.previous;
  return { startedAt: build.startedAt, finishedAt: build.finishedAt };
}

/** A build's log is found by the Environment's UID, which a new object of the same name does not share. */
export function logId(environment: Environment, buildNumber: number): string {
  return `${environment.metadata.uid ?? ''}/${buildNumber}`;
}
