import {
  MAX_BUILD_HISTORY,
  type BuildStatus,
  type BuildTrigger,
  type Environment,
  type EnvironmentStatus,
  type FinishedBuild,
} from '../../crds/environment.ts';
import { requestTime, type HandledRequests } from '../../crds/requests.ts';
import { isSyncRequest } from '../repository/sync-builds.ts';

/** Returns the newest build or rebuild request that was handled. */
export function newestBuildRequest({ build, rebuild }: HandledRequests = {}): string | undefined {
  if (build === undefined || rebuild === undefined) return build ?? rebuild;
  return (requestTime(rebuild) ?? 0) > (requestTime(build) ?? 0) ? rebuild : build;
}

/** Returns why a build starts now. `status`: before the build is recorded in it. */
export function triggerOf(
  { buildOnCreate }: Pick<Environment['spec'], 'buildOnCreate'>,
  { activation, build, handledRequests }: Pick<EnvironmentStatus, 'activation' | 'build' | 'handledRequests'>,
): BuildTrigger {
  if (activation?.rebuild) return activation.reason === 'Schedule' ? 'schedule' : 'rebuild';
  const request = handledRequests?.build;
  const isFirst = activation !== undefined && !(build && Date.parse(build.startedAt) >= Date.parse(activation.since));
  // A PUT, and a spawn, that build ask for contents and for the build in one request.
  if (isFirst && activation.reason === 'CreateRequest' && request === handledRequests?.create) return 'create';
  if (isFirst && activation.reason === 'Spec' && buildOnCreate) return 'create';
  if (request === undefined || newestBuildRequest(handledRequests) === build?.request) return 'recovery';
  return isSyncRequest(request) ? 'commit' : 'build';
}

/** Returns the history with a build that has finished, the newest first. */
export function withFinished(
  builds: readonly FinishedBuild[] | undefined,
  { number, result, trigger, request, commit, startedAt }: BuildStatus,
  finishedAt: string,
): FinishedBuild[] {
  const finished: FinishedBuild = { number, result, trigger, request, commit, startedAt, finishedAt };
  return [finished, ...(builds ?? []).filter((one) => one.number < number)].slice(0, MAX_BUILD_HISTORY);
}
