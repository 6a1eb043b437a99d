import type { ApprovalStatus, Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { formatId, type ResourceId } from '../../crds/ids.ts';
import { environmentHost } from '../../crds/environment-address.ts';
import { conditionViews } from '../http/condition-view.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';
import { currentBuildView, secondsBetween, type AcceptedRequest } from './build-view.ts';
import { expiryOf, isAsleep, isRemoving, pending, ttlOf, wantsContents } from './contents.ts';
import { environmentHealth } from './environment-health.ts';
import type { EnvironmentView, SpawnedView } from './environment-view-schema.ts';
import { includedViews } from './included-view.ts';
import { shownStatus } from './shown-status.ts';

/** Where environments are served, as seen by browsers. */
export interface WebAddress {
  scheme: 'http' | 'https';
  domain: string;
  /** Absent for the scheme's default. */
  port?: number | undefined;
}

export function environmentDisplayName({ metadata, spec }: Environment): string {
  return spec.displayName ?? metadata.name;
}

/** Returns the size in bytes: image layers, each counted once, and the volumes as measured after the last build. */
export function environmentSize({ status }: Environment): number {
  if (!status?.deployed) return 0;
  return (status.deployed.sizeBytes ?? 0) + (status.volumes?.usedBytes ?? 0);
}

/** Returns the deployed commit or, before the first build, that of the services' setup. */
export function environmentCommit({ status }: Environment): string | undefined {
  return status?.deployed?.commit ?? status?.commit;
}

/** Returns the fields that an environment has in every view: its names, its state and its health. */
export function environmentHead(environment: Environment, group: string) {
  const { metadata, spec, status: { deployed } = {} } = environment;
  const { health, problem } = environmentHealth(environment);
  return {
    id: formatId({ group, name: metadata.name }),
    rid: formatId({ group, name: spec.repository }),
    gid: group,
    version: Number(metadata.resourceVersion ?? 0),
    name: environmentDisplayName(environment),
    gitRef: spec.gitRef,
    status: shownStatus(environment),
    health,
    ...(problem && { problem }),
    ...(isAsleep(environment) && { asleep: true as const }),
    ...(isRemoving(environment) && { removing: true as const }),
    ...(deployed && { deployedBuild: deployed.number }),
  };
}

/**
 * Returns the environment as REST shows it.
 * @param address undefined if it is not known: then the address is absent until the operator reports it
 * @param request the request that the response accepts
 */
export function environmentView(
  group: Pick<Group, 'metadata'>,
  environment: Environment,
  address: WebAddress | undefined,
  request?: AcceptedRequest,
): EnvironmentView {
  const { metadata, spec, status } = environment;
  const id = idOf(group, environment);
  const finished = lastFinished(status);
  const builtAt = unixSecondsOf(finished?.finishedAt);
  const ttl = ttlOf(environment);
  const weburl = webUrl(id, environment, address);
  const commit = environmentCommit(environment);
  const repositories = includedViews(group.metadata.name, status);
  const expiresAt = expiryOf(environment);
  const expired = expiredBy(environment);
  const build = currentBuildView(environment);
  const nextRebuild = status?.schedule?.next;
  const requests = pending(environment).map(({ name, value }) => ({ name, id: value }));
  return {
    ...environmentHead(environment, group.metadata.name),
    ...(status?.sleep && { sleep: { since: unixSecondsOf(status.sleep.since), reason: status.sleep.reason } }),
    settings: { sleep: spec.sleep ?? {} },
    ...(status?.fromFork !== undefined && { fromFork: status.fromFork }),
    ...(status?.approval && { approval: approvalView(status.approval) }),
    ...(nextRebuild !== undefined && { nextRebuildAt: unixSecondsOf(nextRebuild) }),
    ...(weburl !== undefined && { weburl }),
    ...(commit !== undefined && { commit }),
    ...(repositories.length > 0 && { repositories }),
    aliases: status?.aliases ?? {},
    access: status?.access ?? 'public',
    ...(spec.access !== undefined && { ownAccess: spec.access }),
    ...(spec.accessPassword && { hasAccessPassword: true as const }),
    buildTime: finished ? secondsBetween(finished.startedAt, finished.finishedAt) : 0,
    createdAt: unixSecondsOf(metadata.creationTimestamp),
    builtAt,
    buildAt: builtAt,
    ...(ttl > 0 && { ttl }),
    ...(expiresAt !== undefined && { expiresAt: unixSecondsOf(expiresAt) }),
    ...(expired && { expired }),
    size: environmentSize(environment),
    services: (status?.services ?? []).map(({ name, ready, restarts = 0, lastTermination, ...facts }) => ({
      id: `${formatId(id)}.${name}`,
      name,
      ready,
      restarts,
      ...facts,
      ...(lastTermination && {
        lastTermination: { ...lastTermination, finishedAt: unixSecondsOf(lastTermination.finishedAt) },
      }),
    })),
    conditions: conditionViews(status?.conditions),
    ...(build && { build }),
    ...(request && { request }),
    ...(requests.length > 0 && { pendingRequests: requests }),
  };
}

function approvalView({ waitingCommit, commits = [] }: ApprovalStatus): NonNullable<EnvironmentView['approval']> {
  return {
    ...(waitingCommit !== undefined && { waitingCommit }),
    commits: commits.map(({ commit, by, at }) => ({
      commit,
      ...(by !== undefined && { by }),
      at: unixSecondsOf(at),
    })),
  };
}

/** Returns which time to live ended, if that is why there are no contents. */
function expiredBy(environment: Environment): EnvironmentView['expired'] {
  const { activation, ttl } = environment.status ?? {};
  if (activation?.reason !== 'Expired' || !ttl || wantsContents(environment)) return undefined;
  return { at: unixSecondsOf(activation.since), ttl: ttl.seconds };
}

/** Returns the times of the last finished build: while a build runs, those of the previous one. */
function lastFinished(status: Environment['status']): BuildTimes | undefined {
  const { build, deployed } = status ?? {};
  return [build, build?.previous, deployed].find((one): one is BuildTimes => one?.finishedAt !== undefined);
}

interface BuildTimes {
  startedAt: string;
  finishedAt: string;
}

/**
 * Returns the response to spawn.
 * @param accepted the request for its build
 * @param isReused whether the environment existed before
 */
export function spawnedView(
  group: Pick<Group, 'metadata'>,
  environment: Environment,
  address: WebAddress | undefined,
  { accepted, isReused = false }: { accepted?: AcceptedRequest | undefined; isReused?: boolean } = {},
): SpawnedView {
  const id = idOf(group, environment);
  const weburl = webUrl(id, environment, address);
  return {
    id: formatId(id),
    name: environmentDisplayName(environment),
    status: shownStatus(environment),
    ...(weburl !== undefined && { weburl }),
    ...(accepted && { request: accepted }),
    ...(isReused && { reused: true as const }),
  };
}

function idOf(group: Pick<Group, 'metadata'>, environment: Environment): ResourceId {
  return { group: group.metadata.name, name: environment.metadata.name };
}

/**
 * Returns the address that the operator reports. Until the services are set up it is unknown whether one is public, so
 * the address follows from the ID.
 */
function webUrl(id: ResourceId, { status }: Environment, address: WebAddress | undefined): string | undefined {
  if (status?.revision !== undefined || status?.deployed || !address) return status?.webURL;
  const { scheme, domain, port } = address;
  return status?.webURL ?? `${scheme}://${environmentHost(id, domain)}${port === undefined ? '' : `:${port}`}/`;
}
