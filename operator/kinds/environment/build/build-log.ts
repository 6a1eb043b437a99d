import type { Environment } from '../../../../crds/environment.ts';
import type { BuildResult, BuildStatus } from '../../../../crds/environment-build.ts';
import type { LogSession } from '../../../images/logs/log-session.ts';
import type { LogSessions } from '../../../images/logs/log-sessions.ts';
import type { ContainerOutput } from '../../../services/diagnosis/last-output.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { Revision } from '../revision/revision.ts';

/** Returns a build's id, by which its log is found: a new Environment of the same name does not share its UID. */
export function buildId(environment: Environment, buildNumber: number): string {
  return `${environment.metadata.uid ?? ''}/${buildNumber}`;
}

/** Writes the log of the running build, without the secrets known at that time. */
export class BuildLog {
  readonly #sessions: Pick<LogSessions, 'open' | 'has' | 'close'>;

  constructor(sessions: Pick<LogSessions, 'open' | 'has' | 'close'>) {
    this.#sessions = sessions;
  }

  open(scope: EnvironmentScope, build: BuildStatus, revision?: Revision): LogSession {
    return this.#sessions.open({
      logId: buildId(scope.environment, build.number),
      environmentKey: scope.key,
      namespace: scope.namespace,
      buildNumber: build.number,
      secrets: scope.secrets(revision),
    });
  }

  /** Whether this operator writes the running build's log, so that the secrets to mask are known. */
  isOpen({ environment, runningBuild: build }: EnvironmentScope): boolean {
    return build !== undefined && this.#sessions.has(buildId(environment, build.number));
  }

  /** Closes the log, so that it is reopened with the revision's secrets. */
  close({ environment, runningBuild: build }: EnvironmentScope): void {
    if (build) this.#sessions.close(buildId(environment, build.number));
  }

  /** Writes a line of Coppice's own, once for each key. */
  async note(scope: EnvironmentScope, key: string, line: string): Promise<void> {
    const build = scope.runningBuild;
    if (build) await this.open(scope, build).note(key, { service: '', stage: 'coppice', line });
  }

  /** Writes the header: which commit is built. */
  async noteCommit(scope: EnvironmentScope, revision?: Revision): Promise<void> {
    const build = scope.runningBuild;
    if (build?.commit === undefined) return;
    const line = `commit ${build.commit}`;
    await this.open(scope, build, revision).note('commit', { service: '', stage: 'coppice', line });
  }

  /** Adds what a container of a service has written, once for each source. */
  async keepOutput(scope: EnvironmentScope, revision: Revision, { source, lines }: ContainerOutput): Promise<void> {
    const build = scope.runningBuild;
    if (build) await this.open(scope, build, revision).keep(source, lines);
  }

  /** Writes the end message of a build that is recorded as finished, and closes its log. */
  async end(
    scope: EnvironmentScope,
    build: BuildStatus,
    result: Exclude<BuildResult, 'running'>,
    message: string,
  ): Promise<void> {
    await this.open(scope, build).end(result, message);
    this.#sessions.close(buildId(scope.environment, build.number));
  }
}
