import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { GitRef } from '../../../crds/git-ref.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import type { RefListing } from './ref-listing.ts';

export interface PlannedBuild {
  environment: Environment;
  commit: string;
  /** `create` changes nothing of wanted contents, but has an Environment that waits for an approval check its commit. */
  request: 'build' | 'create';
}

/** Plans builds of contents whose ref has a new commit, and checks of a commit that is to be approved. */
export function planBuilds(environments: readonly Environment[], listing: RefListing): PlannedBuild[] {
  return environments.flatMap((environment) => {
    const commit = commitOf(environment.spec.gitRef, listing);
    const request = commit === undefined ? undefined : dueRequest(environment, commit);
    return commit === undefined || request === undefined ? [] : [{ environment, commit, request }];
  });
}

function commitOf({ type, name }: GitRef, listing: RefListing): string | undefined {
  if (type === 'branch') return listing.branches.get(name);
  return type === 'tag' ? listing.tags.get(name) : listing.pullRequestCommits.get(Number(name));
}

function dueRequest(environment: Environment, commit: string): PlannedBuild['request'] | undefined {
  const { metadata, status } = environment;
  const waiting = status?.approval?.waitingCommit;
  if (waiting === commit) return undefined;
  if (needsBuild(environment, commit)) return 'build';
  const isAsked = metadata.annotations?.[requestAnnotation('create')]?.endsWith(`/${buildRequestId(commit)}`) === true;
  const isMoved = waiting !== undefined && status?.activation?.active === true && !status.activation.buildPending;
  return isMoved && !isAsked ? 'create' : undefined;
}

function needsBuild({ metadata, status }: Environment, commit: string): boolean {
  if (status?.activation?.active !== true) return false;
  if (status.commit === commit || status.build?.commit === commit) return false;
  const asked = metadata.annotations?.[requestAnnotation('build')];
  if (asked?.endsWith(`/${buildRequestId(commit)}`) === true && !cameToNothing(asked, status)) return false;
  // Whether the first contents are built is determined by the request that created them.
  const isNew = status.commit === undefined && status.build === undefined;
  return !isNew || status.activation.buildPending || findCondition(status.conditions, 'Created') !== undefined;
}

/** Returns whether a request was handled but its build did not see the commit, because the Git host did not respond. */
function cameToNothing(asked: string, { build, conditions, handledRequests }: EnvironmentStatus): boolean {
  if (asked !== handledRequests?.build || build === undefined || build.result === 'running') return false;
  // The request joined a running build, because the new commit was not known yet.
  if (build.commit !== undefined) return Date.parse(build.startedAt) < Date.parse(asked.split('/')[0] ?? '');
  return build.result === 'failed' && findCondition(conditions, 'Built')?.reason === 'SourceUnreachable';
}

/**
 * Returns the ID of a build request for a commit, so that each commit is requested once, unless its build could not
 * read it.
 */
export function buildRequestId(commit: string): string {
  return `sync-${commit}`;
}

/** Returns whether a request comes from a sync. Only for messages: others can use such an ID too. */
export function isSyncRequest(value: string): boolean {
  return value.split('/')[1]?.startsWith('sync-') ?? false;
}
