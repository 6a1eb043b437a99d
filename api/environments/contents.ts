import type { Environment } from '../../crds/environment.ts';
import { pendingRequests, requestedTtlSeconds, requestTime, type PendingRequest } from '../../crds/requests.ts';

type EnvironmentViewInput = Pick<Environment, 'metadata' | 'spec' | 'status'>;

/** Returns the requests that the operator has not handled yet, in order. */
export function pending({ metadata, status }: EnvironmentViewInput): PendingRequest[] {
  return pendingRequests(metadata.annotations, status?.handledRequests);
}

export function stateOf({ status }: EnvironmentViewInput): 'empty' | 'created' | 'building' | 'built' {
  return status?.state ?? 'empty';
}

/** Returns whether the environment will have contents once all requests are handled. */
export function wantsContents(environment: EnvironmentViewInput): boolean {
  const decisive = pending(environment).findLast(({ name }) => ['create', 'delete', 'rebuild'].includes(name));
  if (decisive) return decisive.name !== 'delete';
  const { activation } = environment.status ?? {};
  if (!activation || activation.specActive !== environment.spec.active) return environment.spec.active;
  return activation.active || activation.rebuild === true;
}

/** Returns whether it has contents, including ones that are being deleted, or will have some. */
export function hasOrWantsContents(environment: EnvironmentViewInput): boolean {
  return stateOf(environment) !== 'empty' || wantsContents(environment);
}

/** Returns whether its contents are being deleted, and no others follow. */
export function isRemoving(environment: EnvironmentViewInput): boolean {
  if (environment.metadata.deletionTimestamp === undefined && wantsContents(environment)) return false;
  return stateOf(environment) !== 'empty' || environment.status?.namespaceUID !== undefined;
}

/** Returns whether a requested build has not started. */
export function awaitsBuild(environment: EnvironmentViewInput): boolean {
  return (
    environment.status?.activation?.buildPending === true ||
    environment.status?.activation?.rebuild === true ||
    pending(environment).some(({ name }) => name === 'build' || name === 'rebuild')
  );
}

/**
 * Returns whether reading the environment starts a build: it is `created`, and no build has been requested or started
 * since its contents were created. Contents that the spec requests include a build if the spec says so.
 */
export function readStartsBuild(environment: EnvironmentViewInput): boolean {
  if (stateOf(environment) !== 'created' || !wantsContents(environment) || awaitsBuild(environment)) return false;
  const { activation, build, handledRequests } = environment.status ?? {};
  if (!activation) return false;
  if (activation.reason === 'Spec' && environment.spec.buildOnCreate) return false;
  const since = Date.parse(activation.since);
  if (build && Date.parse(build.startedAt) >= since) return false;
  // A create request and the build request sent with it have the same time, which is before `since`.
  const created = activation.reason === 'CreateRequest' ? (requestTime(handledRequests?.create) ?? since) : since;
  const requested = requestTime(handledRequests?.build);
  return requested === undefined || requested < created;
}

/**
 * Returns the time to live in seconds, including one that the operator has not handled yet; 0 if there is none or no
 * contents.
 */
export function ttlOf(environment: EnvironmentViewInput): number {
  if (!hasOrWantsContents(environment)) return 0;
  return requestedTtl(environment)?.seconds ?? environment.status?.ttl?.seconds ?? environment.spec.ttlSeconds ?? 0;
}

/** Returns when the contents expire, RFC 3339; undefined if they do not, and until new ones are set up. */
export function expiryOf(environment: EnvironmentViewInput): string | undefined {
  if (!wantsContents(environment)) return undefined;
  const requested = requestedTtl(environment);
  if (!requested) return environment.status?.expiresAt;
  if (requested.seconds === 0 || environment.status?.activation?.active !== true) return undefined;
  return new Date(requested.at + requested.seconds * 1000).toISOString();
}

function requestedTtl(environment: EnvironmentViewInput): { seconds: number; at: number } | undefined {
  const request = pending(environment).find(({ name }) => name === 'ttl');
  const seconds = request && requestedTtlSeconds(request.value);
  return seconds === undefined ? undefined : { seconds, at: request?.at ?? 0 };
}

/** Returns the build whose log is read by default: the running or last one; undefined while one is about to start. */
export function currentBuild(environment: EnvironmentViewInput): number | undefined {
  return awaitsBuild(environment) ? undefined : environment.status?.build?.number;
}

/** Returns whether its services are stopped, or will be once all requests are handled. */
export function isAsleep(environment: EnvironmentViewInput): boolean {
  if (stateOf(environment) !== 'built' && stateOf(environment) !== 'building') return false;
  const decisive = pending(environment).findLast(({ name }) => name === 'sleep' || name === 'wake');
  return decisive ? decisive.name === 'sleep' : environment.status?.sleep?.asleep === true;
}

/** Returns whether a request to wake has not been handled yet. */
export function isWakeRequested(environment: EnvironmentViewInput): boolean {
  return pending(environment).some(({ name }) => name === 'wake');
}
