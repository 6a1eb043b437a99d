import { createHash } from 'node:crypto';
import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { GitRef } from '../../../crds/git-ref.ts';
import type { IncludedCommit } from '../../../crds/included-repository.ts';
import { requestAnnotation } from '../../../crds/requests.ts';
import type { RefListing } from './ref-listing.ts';

export interface PlannedBuild {
  environment: Environment;
  commit: string;
  /** `create` changes nothing of wanted contents, but has an Environment that waits for an approval check its commit. */
  request: 'build' | 'create';
  /** ID of the request; by default that of the environment's own commit. */
  requestId?: string;
}

/** Plans builds of contents whose ref has a new commit, and checks of a commit that is to be approved. */
export function planBuilds(environments: readonly Environment[], listing: RefListing): PlannedBuild[] {
  return environments.flatMap((environment) => {
    const commit = commitOf(environment.spec.gitRef, listing);
    const request = commit === undefined ? undefined : dueRequest(environment, commit);
    return commit === undefined || request === undefined ? [] : [{ environment, commit, request }];
  });
}

/**
 * Plans builds of contents that include a repository whose branch has a new commit. `environments`: those of other
 * repositories that include it.
 */
export function planIncludedBuilds(
  repository: string,
  environments: readonly Environment[],
  { branches }: Pick<RefListing, 'branches'>,
): PlannedBuild[] {
  return environments.flatMap((environment) => {
    const { status } = environment;
    const isIncluded = ({ name }: { name: string }) => name === repository;
    const included = status?.repositories?.find(isIncluded);
    const branch = included?.branches.find((name) => branches.has(name));
    const commit = branch === undefined ? undefined : branches.get(branch);
    if (branch === undefined || commit === undefined || status?.activation?.active !== true) return [];
    const known = [included, status.build?.repositories?.find(isIncluded)];
    if (known.some((one) => one?.branch === branch && one.commit === commit)) return [];
    const requestId = includedRequestId({ name: repository, branch, commit });
    return isRequested(environment, requestId) ? [] : [{ environment, commit, request: 'build', requestId }];
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
  if (isRequested({ metadata, status }, buildRequestId(commit))) return false;
  // Whether the first contents are built is determined by the request that created them.
  const isNew = status.commit === undefined && status.build === undefined;
  return !isNew || status.activation.buildPending || findCondition(status.conditions, 'Created') !== undefined;
}

/** Returns whether the newest build request has this ID, and leads or has led to a build. */
function isRequested({ metadata, status = {} }: Pick<Environment, 'metadata' | 'status'>, id: string): boolean {
  const asked = metadata.annotations?.[requestAnnotation('build')];
  return asked?.endsWith(`/${id}`) === true && !cameToNothing(asked, status);
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

/** Returns the ID of a build request for a commit of an included repository, for each branch and commit another one. */
function includedRequestId({ name, branch, commit }: IncludedCommit): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([name, branch, commit]))
    .digest('hex');
  return buildRequestId(hash.slice(0, 40));
}

/** Returns whether a request comes from a sync. Only for messages: others can use such an ID too. */
export function isSyncRequest(value: string): boolean {
  return value.split('/')[1]?.startsWith('sync-') ?? false;
}
