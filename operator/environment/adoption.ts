import { isDeepStrictEqual } from 'node:util';
import { API_GROUP } from '../../crds/api-group.ts';
import {
  buildStatusSchema,
  type BuildStatus,
  type Environment,
  type EnvironmentStatus,
} from '../../crds/environment.ts';
import { pendingRequests } from '../../crds/requests.ts';

/** On an environment's namespace: the build that came up in it, so that a status that is lost can be told anew. */
export const DEPLOYED_ANNOTATION = `${API_GROUP}/deployed`;

/** What the annotation says; undefined where it is absent, or was written by another version of Coppice. */
export function recordedBuild(annotation: string | undefined): BuildStatus | undefined {
  if (annotation === undefined) return undefined;
  try {
    return buildStatusSchema.safeParse(JSON.parse(annotation)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The annotation's value for a build; undefined when it is there already. */
export function newRecord(build: BuildStatus, annotation: string | undefined): string | undefined {
  const text = JSON.stringify(build);
  return isDeepStrictEqual(recordedBuild(annotation), JSON.parse(text)) ? undefined : text;
}

/** No two clocks are further apart: a day. */
const mostAheadMs = 24 * 3600_000;

/**
 * The status of an environment that lost it, where contents stand that this build brought up: nothing is built again, and
 * nothing removed by a request of which nobody knows whether it was before or after.
 */
export function adoptedStatus(
  { metadata, spec }: Pick<Environment, 'metadata' | 'spec'>,
  build: BuildStatus,
  now: Date,
): EnvironmentStatus {
  const { commit, version, startedAt: since, finishedAt = since } = build;
  // What was asked for before it came up is what came up. A request of a time that no clock says yet, and all that come
  // after it and so are told to be later still, may be as old as that.
  const isDone = (at: number) => at <= Date.parse(finishedAt) || at > now.getTime() + mostAheadMs;
  const done = pendingRequests(metadata.annotations, undefined).filter(({ at }) => isDone(at));
  return {
    state: 'built',
    activation: { active: true, since, reason: 'Spec', specActive: spec.active, buildPending: false },
    handledRequests: Object.fromEntries(done.map(({ name, value }) => [name, value])),
    build,
    deployed: build,
    commit,
    version,
  };
}
