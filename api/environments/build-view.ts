import { z } from 'zod';
import {
  BUILD_TRIGGERS,
  type BuildStatus,
  type Environment,
  type EnvironmentStatus,
  type FinishedBuild,
} from '../../crds/environment.ts';
import { pendingRequests, requestAnnotation, requestTime } from '../../crds/requests.ts';
import { awaitsBuild, wantsContents } from './contents.ts';

type EnvironmentParts = Pick<Environment, 'metadata' | 'spec' | 'status'>;

const requestId = z.string().meta({
  description: 'The id of a request, as an answer to build, rebuild, spawn or PUT names it: `TIME/ID`.',
});

/** Ours: a build, running, awaited or finished. */
export const buildViewSchema = z
  .object({
    number: z.int().optional().meta({
      description: 'Counts from 1. Absent while it is not known whether a request joins the running build.',
    }),
    result: z.enum(['pending', 'running', 'succeeded', 'failed', 'superseded', 'cancelled']).meta({
      description: '`pending`: requested, and not started; then `running`; the others are final.',
    }),
    commit: z.string().optional().meta({ description: 'Absent until it is known.' }),
    trigger: z.enum(BUILD_TRIGGERS).optional().meta({ description: 'Why it started.' }),
    request: requestId.optional(),
    startedAt: z.int().optional().meta({ description: 'In Unix seconds.' }),
    duration: z.int().optional().meta({ description: 'Seconds that it took; absent until it has finished.' }),
    message: z.string().optional().meta({ description: 'What became of it; of the last build alone.' }),
  })
  .meta({ id: 'Build' });
export type BuildView = z.infer<typeof buildViewSchema>;

/** Ours: what an accepted request is called, and which build it leads to. */
export const acceptedRequestSchema = z
  .object({
    id: requestId,
    build: z.int().optional().meta({
      description:
        'The build that it becomes. Absent where it leads to none, and while it is not known whether it joins the running one.',
    }),
  })
  .meta({ id: 'AcceptedRequest' });
export type AcceptedRequest = z.infer<typeof acceptedRequestSchema>;

/** Returns whole seconds, the nearest, and 1 for anything shorter. */
export function secondsBetween(startedAt: string, finishedAt: string): number {
  return Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000));
}

/** Returns the build that runs or is awaited, or the last one; undefined before the first. */
export function currentBuildView(environment: EnvironmentParts): BuildView | undefined {
  const { build } = environment.status ?? {};
  if (!isAwaited(environment) || build?.result === 'running') return build && viewOf(build);
  return pendingBuild(environment, nextNumber(environment.status));
}

/** Returns what is known of the builds, the newest first: the one that runs or is awaited, and those that are kept. */
export function buildViews(environment: EnvironmentParts): BuildView[] {
  const current = currentBuildView(environment);
  const kept = knownBuilds(environment.status).map(viewOf);
  return [...(current?.result === 'pending' ? [current] : []), ...kept];
}

/** Returns the build of this number; undefined where there is none, or it is not kept any more. */
export function numberedBuild(environment: EnvironmentParts, number: number): BuildView | undefined {
  return buildViews(environment).find((build) => build.number === number);
}

/**
 * Returns the build that a request became or joined: the first that started for it or for a later request, because one
 * build serves all requests that came before it started.
 */
export function requestedBuild(environment: EnvironmentParts, request: string): BuildView | 'unknown' | 'forgotten' {
  const time = requestTime(request) ?? Infinity;
  if (!isKnownRequest(environment, time)) return 'unknown';
  const oldestFirst = knownBuilds(environment.status).reverse();
  const found = oldestFirst.find((build) => (requestTime(build.request) ?? -Infinity) >= time);
  // An earlier build, which is not kept, may have been it.
  if (found && found === oldestFirst[0] && found.number > 1 && found.request !== request) return 'forgotten';
  if (found) return { ...viewOf(found), request };
  if (!isAwaited(environment)) {
    return { result: 'cancelled', request, message: 'the contents were removed before the build started' };
  }
  const isUndecided = environment.status?.build?.result === 'running';
  return { ...pendingBuild(environment, isUndecided ? undefined : nextNumber(environment.status)), request };
}

/** Returns what a request that was just written is called. `name`: of its annotation. */
export function acceptedRequest(
  environment: EnvironmentParts,
  name: 'create' | 'delete' | 'build' | 'rebuild',
): AcceptedRequest | undefined {
  const id = environment.metadata.annotations?.[requestAnnotation(name)];
  if (id === undefined) return undefined;
  const isUndecided = name === 'build' && environment.status?.build?.result === 'running';
  const leadsToBuild = name === 'rebuild' || name === 'build';
  return { id, ...(leadsToBuild && !isUndecided && { build: nextNumber(environment.status) }) };
}

export function isOver({ result }: BuildView): boolean {
  return result !== 'pending' && result !== 'running';
}

function isAwaited(environment: EnvironmentParts): boolean {
  return awaitsBuild(environment) && wantsContents(environment);
}

function nextNumber(status: EnvironmentStatus | undefined): number {
  return (status?.build?.number ?? 0) + 1;
}

function pendingBuild({ metadata, status }: EnvironmentParts, number: number | undefined): BuildView {
  const builds = pendingRequests(metadata.annotations, status?.handledRequests).filter(
    ({ name }) => name === 'build' || name === 'rebuild',
  );
  const request = builds.at(-1)?.value;
  return { ...(number !== undefined && { number }), result: 'pending', ...(request !== undefined && { request }) };
}

/** Whether a build or rebuild request of this time, or a later one, was ever made of the environment. */
function isKnownRequest({ metadata }: EnvironmentParts, time: number): boolean {
  return (['build', 'rebuild'] as const).some(
    (name) => (requestTime(metadata.annotations?.[requestAnnotation(name)]) ?? -Infinity) >= time,
  );
}

/** Newest first, each once. */
function knownBuilds({ build, builds = [] }: EnvironmentStatus = {}): (BuildStatus | FinishedBuild)[] {
  return build ? [build, ...builds.filter(({ number }) => number < build.number)] : [...builds];
}

function viewOf(build: BuildStatus | FinishedBuild): BuildView {
  const { number, result, commit, trigger, request, startedAt, finishedAt } = build;
  const message = 'message' in build ? build.message : undefined;
  return {
    number,
    result,
    ...(commit !== undefined && { commit }),
    ...(trigger !== undefined && { trigger }),
    ...(request !== undefined && { request }),
    startedAt: Math.floor(Date.parse(startedAt) / 1000),
    ...(finishedAt !== undefined && { duration: secondsBetween(startedAt, finishedAt) }),
    ...(message !== undefined && { message }),
  };
}
