import { isDeepStrictEqual } from 'node:util';
import { API_GROUP } from '../../../../crds/api-group.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import { buildStatusSchema, type BuildStatus } from '../../../../crds/environment-build.ts';
import { pendingRequests } from '../../../../crds/requests.ts';

/** Annotation of an environment's namespace: the build deployed in it, from which a lost status is restored. */
export const DEPLOYED_ANNOTATION = `${API_GROUP}/deployed`;

/** Returns the recorded build; undefined if it is absent or was written by another version of Coppice. */
export function recordedBuild(annotation: string | undefined): BuildStatus | undefined {
  if (annotation === undefined) return undefined;
  try {
    return buildStatusSchema.safeParse(JSON.parse(annotation)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the annotation's value for a build; undefined if it is already set. */
export function newRecord(build: BuildStatus, annotation: string | undefined): string | undefined {
  const text = JSON.stringify(build);
  return isDeepStrictEqual(recordedBuild(annotation), JSON.parse(text)) ? undefined : text;
}

/** Maximum assumed difference between two clocks: a day. */
const maxAheadMs = 24 * 3600_000;

/**
 * Returns the status of an environment that lost it while this build is deployed: nothing is built again, and no
 * request of unknown age deletes anything.
 */
export function adoptedStatus(
  { metadata, spec }: Pick<Environment, 'metadata' | 'spec'>,
  build: BuildStatus,
  now: Date,
): EnvironmentStatus {
  const { commit, revision, startedAt: since, finishedAt = since } = build;
  // Requests older than the deployment are handled by it. A request with a time in the future, and all that are recorded
  // after it and therefore later still, can be that old too.
  const isDone = (at: number) => at <= Date.parse(finishedAt) || at > now.getTime() + maxAheadMs;
  const done = pendingRequests(metadata.annotations, undefined).filter(({ at }) => isDone(at));
  return {
    state: 'built',
    activation: { active: true, since, reason: 'Spec', specActive: spec.active, buildPending: false },
    handledRequests: Object.fromEntries(done.map(({ name, value }) => [name, value])),
    build,
    deployed: build,
    commit,
    revision,
  };
}
