import { z } from 'zod';
import type { Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { BUILD_TRIGGERS, type BuildStatus, type FinishedBuild } from '../../crds/environment-build.ts';
import { pendingRequests, requestAnnotation, requestTime } from '../../crds/requests.ts';
import { awaitsBuild, wantsContents } from './contents.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

type EnvironmentViewInput = Pick<Environment, 'metadata' | 'spec' | 'status'>;

const requestId = z.string().meta({
  description: 'The id of a request, as returned by build, rebuild, spawn or PUT: `TIME/ID`.',
});

/** A pending, running or finished build (extension). */
export const buildViewSchema = z
  .object({
    number: z.int().optional().meta({
      description: 'Counts from 1. Absent until it is known whether a request joins the running build.',
    }),
    result: z.enum(['pending', 'running', 'succeeded', 'failed', 'superseded', 'cancelled']).meta({
      description: '`pending`: requested and not started; `running`; all other values are final.',
    }),
    commit: z.string().optional().meta({ description: 'Absent until it is known.' }),
    repositories: z
      .array(z.object({ name: z.string(), branch: z.string(), commit: z.string() }))
      .optional()
      .meta({ description: 'Commits of the included repositories; only of the last build, absent if it has none.' }),
    trigger: z.enum(BUILD_TRIGGERS).optional().meta({ description: 'Why it started.' }),
    request: requestId
      .optional()
      .meta({ description: 'The newest request that the build serves; absent if none started it.' }),
    author: z.string().optional().meta({ description: 'Author of the commit.' }),
    subject: z.string().optional().meta({ description: "First line of the commit's message." }),
    startedAt: z.int().optional().meta({ description: 'In Unix seconds.' }),
    duration: z.int().optional().meta({ description: 'Duration in seconds; absent until the build has finished.' }),
    message: z.string().optional().meta({ description: 'The outcome; only of the last build.' }),
    size: z.int().optional().meta({ description: 'Compressed layers of its images in bytes; absent if not known.' }),
    stages: z
      .array(
        z.object({
          name: z.enum(['build', 'rollout']).meta({
            description:
              '`build`: from the start until all images are in the registry; `rollout`: until all services run.',
          }),
          startedAt: z.number().meta({ description: 'In Unix seconds, with milliseconds.' }),
          duration: z.number().optional().meta({ description: 'In seconds; absent while the stage runs.' }),
        }),
      )
      .optional()
      .meta({ description: 'The parts of a build that has started, in order.' }),
  })
  .meta({ id: 'Build' });
export type BuildView = z.infer<typeof buildViewSchema>;

/** An accepted request and the build that it leads to (extension). */
export const acceptedRequestSchema = z
  .object({
    id: requestId,
    build: z.int().optional().meta({
      description:
        'The build that the request starts. Absent if it starts none, and until it is known whether it joins the running build.',
    }),
  })
  .meta({ id: 'AcceptedRequest' });
export type AcceptedRequest = z.infer<typeof acceptedRequestSchema>;

/** Returns whole seconds, rounded, and at least 1. */
export function secondsBetween(startedAt: string, finishedAt: string): number {
  return Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000));
}

/** Returns the running or pending build, or else the last one; undefined before the first. */
export function currentBuildView(environment: EnvironmentViewInput): BuildView | undefined {
  const { build } = environment.status ?? {};
  if (!isAwaited(environment) || build?.result === 'running') return build && knownBuildViews(environment.status)[0];
  return pendingBuild(environment, nextNumber(environment.status));
}

/** Returns the known builds, newest first: the running or pending one, and those in the history. */
export function buildViews(environment: EnvironmentViewInput): BuildView[] {
  const current = currentBuildView(environment);
  const kept = knownBuildViews(environment.status);
  return [...(current?.result === 'pending' ? [current] : []), ...kept];
}

/** Returns the build of this number; undefined if it does not exist or is no longer kept. */
export function numberedBuild(environment: EnvironmentViewInput, number: number): BuildView | undefined {
  return buildViews(environment).find((build) => build.number === number);
}

/**
 * Returns the build that a request started or joined: the first one that started for it or for a later request, because
 * a build serves all requests before its start.
 */
export function requestedBuild(
  environment: EnvironmentViewInput,
  request: string,
): BuildView | 'unknown' | 'forgotten' {
  const time = requestTime(request) ?? Infinity;
  if (!isKnownRequest(environment, time)) return 'unknown';
  const oldestFirst = knownBuilds(environment.status).reverse();
  const found = oldestFirst.find((build) => (requestTime(build.request) ?? -Infinity) >= time);
  // It may have been an earlier build, which is no longer kept.
  if (found && found === oldestFirst[0] && found.number > 1 && found.request !== request) return 'forgotten';
  if (found) return { ...viewOf(found), request };
  if (!isAwaited(environment)) {
    return {
      result: 'cancelled',
      request,
      message: 'the contents were deleted before the build started. PUT creates and builds them again',
    };
  }
  const isUndecided = environment.status?.build?.result === 'running';
  return { ...pendingBuild(environment, isUndecided ? undefined : nextNumber(environment.status)), request };
}

/** Returns the ID of a request that was just written. `name`: of its annotation. */
export function acceptedRequest(
  environment: EnvironmentViewInput,
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

function isAwaited(environment: EnvironmentViewInput): boolean {
  return awaitsBuild(environment) && wantsContents(environment);
}

function nextNumber(status: EnvironmentStatus | undefined): number {
  return (status?.build?.number ?? 0) + 1;
}

function pendingBuild({ metadata, status }: EnvironmentViewInput, number: number | undefined): BuildView {
  const builds = pendingRequests(metadata.annotations, status?.handledRequests).filter(
    ({ name }) => name === 'build' || name === 'rebuild',
  );
  const request = builds.at(-1)?.value;
  const waiting = status?.approval?.waitingCommit;
  return {
    ...(number !== undefined && { number }),
    result: 'pending',
    ...(request !== undefined && { request }),
    ...(waiting !== undefined && { message: `waits until a member approves commit ${waiting}` }),
  };
}

/** Returns whether a build or rebuild request of this time or later exists. */
function isKnownRequest({ metadata }: EnvironmentViewInput, time: number): boolean {
  return (['build', 'rebuild'] as const).some(
    (name) => (requestTime(metadata.annotations?.[requestAnnotation(name)]) ?? -Infinity) >= time,
  );
}

/** Returns builds newest first, without duplicates. */
function knownBuilds({ build, builds = [] }: EnvironmentStatus = {}): (BuildStatus | FinishedBuild)[] {
  return build ? [build, ...builds.filter(({ number }) => number < build.number)] : [...builds];
}

/**
 * Returns the views of known builds, newest first. The status records for each build the newest request before it. A
 * scheduled build therefore has the same request as the build before it, and only the earlier one was started by it.
 */
function knownBuildViews(status: EnvironmentStatus | undefined): BuildView[] {
  return knownBuilds(status).map((build, index, builds) => {
    const { request, ...view } = viewOf(build);
    return request === undefined || request === builds[index + 1]?.request ? view : { ...view, request };
  });
}

function viewOf(build: BuildStatus | FinishedBuild): BuildView {
  const { number, result, commit, trigger, request, author, subject, startedAt, finishedAt, sizeBytes } = build;
  const message = 'message' in build ? build.message : undefined;
  const repositories = 'repositories' in build ? build.repositories : undefined;
  return {
    number,
    result,
    ...(commit !== undefined && { commit }),
    ...(repositories && { repositories }),
    ...(trigger !== undefined && { trigger }),
    ...(request !== undefined && { request }),
    ...(author !== undefined && { author }),
    ...(subject !== undefined && { subject }),
    startedAt: unixSecondsOf(startedAt),
    ...(finishedAt !== undefined && { duration: secondsBetween(startedAt, finishedAt) }),
    ...(message !== undefined && { message }),
    ...(sizeBytes !== undefined && { size: sizeBytes }),
    stages: stagesOf(build),
  };
}

/** Returns when the parts of a build started, and how long they took. */
function stagesOf({
  startedAt,
  rolloutStartedAt,
  finishedAt,
}: Pick<BuildStatus, 'startedAt' | 'rolloutStartedAt' | 'finishedAt'>): NonNullable<BuildView['stages']> {
  const stage = (name: 'build' | 'rollout', start: string, end: string | undefined) => ({
    name,
    startedAt: Date.parse(start) / 1000,
    ...(end !== undefined && { duration: (Date.parse(end) - Date.parse(start)) / 1000 }),
  });
  const built = stage('build', startedAt, rolloutStartedAt ?? finishedAt);
  return rolloutStartedAt === undefined ? [built] : [built, stage('rollout', rolloutStartedAt, finishedAt)];
}
