import type { BuildResult, BuildStatus, Environment } from '../../crds/environment.ts';
import type { Builder, BuildRequest } from '../build/builder.ts';
import type { LogSession } from '../build/log-session.ts';
import type { LogSessions } from '../build/log-sessions.ts';
import { Stalled } from '../errors.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Version } from './version.ts';

const finishReasons = {
  succeeded: 'Succeeded',
  failed: 'BuildFailed',
  superseded: 'Superseded',
  cancelled: 'Cancelled',
} as const;

/** The course of one build as the Environment's status and its log tell it. */
export class BuildRun {
  readonly #builder: Builder;
  readonly #logs: LogSessions;

  constructor(builder: Builder, logs: LogSessions) {
    this.#builder = builder;
    this.#logs = logs;
  }

  /** Opens the next build. `commit` is given when it has just been found out. */
  async start(scope: EnvironmentScope, commit: string | undefined): Promise<void> {
    const { status } = scope;
    const number = (status.build?.number ?? 0) + 1;
    status.build = { number, result: 'running', startedAt: scope.now.toISOString(), commit };
    this.join(scope);
    scope.report('Built', 'Unknown', 'Building', `build ${number} is under way`);
    const { gitRef } = scope.environment.spec;
    await this.note(scope, 'start', `build ${number} of the ${gitRef.type} ${gitRef.name}`);
  }

  /** The build that is under way, if one is. */
  running(scope: EnvironmentScope): BuildStatus | undefined {
    return scope.status.build?.result === 'running' ? scope.status.build : undefined;
  }

  /** A build that was asked for is the one that runs already. */
  join(scope: EnvironmentScope): void {
    if (scope.status.activation) scope.status.activation = { ...scope.status.activation, buildPending: false };
  }

  takeCommit(scope: EnvironmentScope, commit: string): void {
    const build = this.running(scope);
    if (build) scope.status.build = { ...build, commit };
  }

  /** Brings the images; false while the Job works. Throws Stalled when the build has failed. */
  async buildImages(scope: EnvironmentScope, version: Version): Promise<boolean> {
    const build = this.running(scope);
    if (!build) return true;
    const log = this.#session(scope, build);
    const built = await this.#builder.build(this.#request(scope, build, version, log), scope.now);
    if (!built) return false;
    scope.status.build = { ...build, ...built, rolloutStartedAt: scope.now.toISOString() };
    await this.note(scope, 'images', 'all images are in the registry, the services are rolled out');
    return true;
  }

  /** The running build's images, by service, once all are there. */
  images(scope: EnvironmentScope): Map<string, string> | undefined {
    const images = this.running(scope)?.images;
    return images && new Map(images.map(({ service, image }) => [service, image]));
  }

  /** Throws Stalled when the services have had their time; otherwise the deadline is looked at again. */
  checkRolloutDeadline(scope: EnvironmentScope, waitingFor: readonly string[], deadlineSeconds: number): void {
    const startedAt = Date.parse(this.running(scope)?.rolloutStartedAt ?? scope.now.toISOString());
    const leftMs = startedAt + deadlineSeconds * 1000 - scope.now.getTime();
    if (leftMs <= 0) {
      throw new Stalled('RolloutFailed', `not up after ${deadlineSeconds} s: ${waitingFor.join('; ')}`);
    }
    scope.lookAgainIn(leftMs);
    scope.givesUpAt = new Date(startedAt + deadlineSeconds * 1000);
  }

  /** A line of Coppice's own in the running build's log; once for each key. */
  async note(scope: EnvironmentScope, key: string, line: string): Promise<void> {
    const build = this.running(scope);
    if (!build) return;
    await this.#session(scope, build).note(key, { service: '', stage: 'coppice', line });
  }

  /** Closes the build in the status and in its log; cleanUp() follows. `reason` says why one failed. */
  async finish(
    scope: EnvironmentScope,
    result: Exclude<BuildResult, 'running'>,
    message: string,
    reason: string = finishReasons[result],
  ): Promise<void> {
    const build = this.running(scope);
    if (!build) return;
    const finished: BuildStatus = { ...build, result, finishedAt: scope.now.toISOString(), message };
    scope.status.build = finished;
    scope.report('Built', result === 'succeeded' ? 'True' : 'False', reason, `build ${build.number}: ${message}`);
    if (result === 'succeeded') scope.status.deployed = finished;
    await this.#session(scope, build).end(result, message);
    this.#logs.close(logId(scope.environment, build.number));
  }

  /** Takes away what builds that are over left in the namespace. */
  cleanUp(scope: EnvironmentScope): Promise<void> {
    return this.#builder.cleanUp(scope.namespace, this.running(scope)?.number);
  }

  #session(scope: EnvironmentScope, build: BuildStatus): LogSession {
    const { access } = scope;
    return this.#logs.open({
      logId: logId(scope.environment, build.number),
      environmentKey: scope.key,
      namespace: scope.namespace,
      buildNumber: build.number,
      secrets: access?.credentials ? [access.credentials.password] : [],
    });
  }

  #request(scope: EnvironmentScope, build: BuildStatus, version: Version, log: LogSession): BuildRequest {
    const { access } = scope;
    if (!access) throw new Error('the repository has not been looked up');
    return {
      namespace: scope.namespace,
      labels: scope.labels,
      number: build.number,
      repository: scope.repository,
      access,
      ref: scope.environment.spec.gitRef,
      commit: version.commit,
      images: version.images,
      log,
    };
  }
}

/** A build's log is found by the Environment's UID, which a new object of the same name does not share. */
export function logId(environment: Environment, buildNumber: number): string {
  return `${environment.metadata.uid ?? ''}/${buildNumber}`;
}
