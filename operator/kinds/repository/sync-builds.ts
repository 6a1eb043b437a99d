import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { GitRef } from '../../../crds/git-ref.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import type { RefListing } from './ref-listing.ts';

export interface PlannedBuild {
  environment: Environment;
  commit: string;
}

/** Which contents are to be brought to a commit that their ref has moved on to. */
export function planBuilds(environments: readonly Environment[], listing: RefListing): PlannedBuild[] {
  return environments.flatMap((environment) => {
    const commit = commitOf(environment.spec.gitRef, listing);
    return commit !== undefined && needsBuild(environment, commit) ? [{ environment, commit }] : [];
  });
}

function commitOf({ type, name }: GitRef, listing: RefListing): string | undefined {
  if (type === 'branch') return listing.branches.get(name);
  return type === 'tag' ? listing.tags.get(name) : listing.pullRequestCommits.get(Number(name));
}

function needsBuild({ metadata, status }: Environment, commit: string): boolean {
  if (status?.activation?.active !== true) return false;
  if (status.commit === commit || status.build?.commit === commit) return false;
  const asked = metadata.annotations?.[requestAnnotation('build')];
  if (asked?.endsWith(`/${buildRequestId(commit)}`) === true && !cameToNothing(asked, status)) return false;
  // While contents are set up for the first time, whether they are built is what their maker said.
  const isNew = status.commit === undefined && status.build === undefined;
  return !isNew || status.activation.buildPending || findCondition(status.conditions, 'Created') !== undefined;
}

/** Whether the request was taken, and no build saw its commit for the silence of the Git host. */
function cameToNothing(asked: string, { build, conditions, handledRequests }: EnvironmentStatus): boolean {
  if (asked !== handledRequests?.build || build === undefined || build.result === 'running') return false;
  // It joined a build that ran already, for nobody could say that the ref had moved on.
  if (build.commit !== undefined) return Date.parse(build.startedAt) < Date.parse(asked.split('/')[0] ?? '');
  return build.result === 'failed' && findCondition(conditions, 'Built')?.reason === 'SourceUnreachable';
}

/** By it a commit is asked for once, unless its build could not find out what it says. */
export function buildRequestId(commit: string): string {
  return `sync-${commit}`;
}

/** Whether a request, by its value, is a sync's for a new commit. It is for people to read: others may use such an id too. */
export function isSyncRequest(value: string): boolean {
  return value.split('/')[1]?.startsWith('sync-') ?? false;
}
