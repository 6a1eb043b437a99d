import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import {
  MAX_BUILD_HISTORY,
  type BuildStatus,
  type BuildTrigger,
  type FinishedBuild,
} from '../../../../crds/environment-build.ts';
import { includedCommits, type IncludedCommit } from '../../../../crds/included-repository.ts';
import { requestTime, type HandledRequests } from '../../../../crds/requests.ts';
import { isSyncRequest } from '../../repository/sync-builds.ts';
import type { Revision } from '../revision/revision.ts';

/** Returns the newest build or rebuild request that was handled. */
export function newestBuildRequest({ build, rebuild }: HandledRequests = {}): string | undefined {
  if (build === undefined || rebuild === undefined) return build ?? rebuild;
  return (requestTime(rebuild) ?? 0) > (requestTime(build) ?? 0) ? rebuild : build;
}

/** Returns why a build starts. `status`: before the build is recorded in it. */
export function triggerOf(
  { buildOnCreate }: Pick<Environment['spec'], 'buildOnCreate'>,
  { activation, build, handledRequests }: Pick<EnvironmentStatus, 'activation' | 'build' | 'handledRequests'>,
): BuildTrigger {
  if (activation?.rebuild) return activation.reason === 'Schedule' ? 'schedule' : 'rebuild';
  const request = handledRequests?.build;
  const isFirst = activation !== undefined && !(build && Date.parse(build.startedAt) >= Date.parse(activation.since));
  // A PUT or spawn with a build requests contents and the build at once.
  if (isFirst && activation.reason === 'CreateRequest' && request === handledRequests?.create) return 'create';
  if (isFirst && activation.reason === 'Spec' && buildOnCreate) return 'create';
  if (request === undefined || newestBuildRequest(handledRequests) === build?.request) return 'recovery';
  return isSyncRequest(request) ? 'commit' : 'build';
}

/** Returns the status of the next build. `planned`: its revision, if it is known. */
export function nextBuild(
  spec: Pick<Environment['spec'], 'buildOnCreate'>,
  status: Readonly<EnvironmentStatus>,
  planned: PlannedBuild | undefined,
  now: Date,
): BuildStatus {
  const previous = previousTimes(status.build);
  return {
    number: (status.build?.number ?? 0) + 1,
    result: 'running',
    trigger: triggerOf(spec, status),
    request: newestBuildRequest(status.handledRequests),
    startedAt: now.toISOString(),
    ...(planned && plannedFields(planned)),
    ...(previous && { previous }),
    ...(status.activation?.rebuild && { noCache: true }),
  };
}

type PlannedBuild = Pick<Revision, 'id' | 'commit' | 'repositories' | 'author' | 'subject'>;

/** Returns the fields of a build that its revision determines. */
export function plannedFields({
  id,
  commit,
  repositories,
  author,
  subject,
}: PlannedBuild): Pick<BuildStatus, 'revision' | 'commit' | 'repositories' | 'author' | 'subject'> {
  const included = includedCommits(repositories);
  return { revision: id, commit, author, subject, ...(included.length > 0 && { repositories: included }) };
}

/** Returns the history with a finished build added, newest first. */
export function withFinished(
  builds: readonly FinishedBuild[] | undefined,
  { number, result, trigger, request, commit, author, subject, startedAt, rolloutStartedAt, sizeBytes }: BuildStatus,
  finishedAt: string,
): FinishedBuild[] {
  const finished: FinishedBuild = {
    ...{ number, result, trigger, request, commit, author, subject },
    ...{ startedAt, rolloutStartedAt, finishedAt, sizeBytes },
  };
  return [finished, ...(builds ?? []).filter((one) => one.number < number)].slice(0, MAX_BUILD_HISTORY);
}

/** Returns when the last finished build started and finished. */
export function previousTimes(build: BuildStatus | undefined): BuildStatus['previous'] {
  if (build?.finishedAt === undefined) return build?.previous;
  return { startedAt: build.startedAt, finishedAt: build.finishedAt };
}

/** Returns why a build supersedes the running one. */
export function whatMoved(
  running: Pick<BuildStatus, 'commit' | 'repositories'>,
  newest: { commit: string; repositories?: readonly IncludedCommit[] },
): string {
  if (running.commit === newest.commit) {
    const moved = newest.repositories?.find(({ name, commit }) =>
      running.repositories?.some((one) => one.name === name && one.commit !== commit),
    );
    if (moved) return `the included repository ${moved.name} has moved to ${moved.commit.slice(0, 12)}`;
    return 'variables, settings of the repository or overrides of the environment have changed';
  }
  return `the ref has moved to ${newest.commit.slice(0, 12)}`;
}
