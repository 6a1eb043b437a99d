import type { Environment } from '../../crds/environment.ts';
import { pendingRequests, requestedTtlSeconds, requestTime, type PendingRequest } from '../../crds/requests.ts';

type EnvironmentParts = Pick<Environment, 'metadata' | 'spec' | 'status'>;

/** The requests that the operator has yet to handle, in the order they were made. */
export function pending({ metadata, status }: EnvironmentParts): PendingRequest[] {
  return pendingRequests(metadata.annotations, status?.handledRequests);
}

export function stateOf({ status }: EnvironmentParts): 'empty' | 'created' | 'building' | 'built' {
  return status?.state ?? 'empty';
}

/** Whether it will have contents, once the operator has handled all that was asked for. */
export function wantsContents(environment: EnvironmentParts): boolean {
  const decisive = pending(environment).findLast(({ name }) => ['create', 'delete', 'rebuild'].includes(name));
  if (decisive) return decisive.name !== 'delete';
  const { activation } = environment.status ?? {};
  if (!activation || activation.specActive !== environment.spec.active) return environment.spec.active;
  return activation.active || activation.rebuild === true;
}

/** Whether it has contents, on their way out too, or will have some. */
export function hasOrWantsContents(environment: EnvironmentParts): boolean {
  return stateOf(environment) !== 'empty' || wantsContents(environment);
}

/** Whether a build was requested that has not started. */
export function awaitsBuild(environment: EnvironmentParts): boolean {
  return (
    environment.status?.activation?.buildPending === true ||
    environment.status?.activation?.rebuild === true ||
    pending(environment).some(({ name }) => name === 'build' || name === 'rebuild')
  );
}

/**
 * Whether reading the environment starts a build (design: only when it is `created` and none was ever requested since
 * its creation). One was requested when it waits or has begun, when a build request is as new as the contents, or
 * when the contents came by the spec and it says that a build follows.
 */
export function readStartsBuild(environment: EnvironmentParts): boolean {
  if (stateOf(environment) !== 'created' || !wantsContents(environment) || awaitsBuild(environment)) return false;
  const { activation, build, handledRequests } = environment.status ?? {};
  if (!activation) return false;
  if (activation.reason === 'Spec' && environment.spec.buildOnCreate) return false;
  const since = Date.parse(activation.since);
  if (build && Date.parse(build.startedAt) >= since) return false;
  // A create request and the build request sent along with it have one time, which is before `since`.
  const created = activation.reason === 'CreateRequest' ? (requestTime(handledRequests?.create) ?? since) : since;
  const requested = requestTime(handledRequests?.build);
  return requested === undefined || requested < created;
}

/** The time to live in seconds, a new one that the operator has yet to take included; 0 means none, as of what has no contents. */
export function ttlOf(environment: EnvironmentParts): number {
  if (!hasOrWantsContents(environment)) return 0;
  return requestedTtl(environment)?.seconds ?? environment.status?.ttl?.seconds ?? environment.spec.ttlSeconds ?? 0;
}

/** When the contents end, RFC 3339; undefined where they do not, and until the operator has set up new ones. */
export function expiryOf(environment: EnvironmentParts): string | undefined {
  if (!wantsContents(environment)) return undefined;
  const requested = requestedTtl(environment);
  if (!requested) return environment.status?.expiresAt;
  if (requested.seconds === 0 || environment.status?.activation?.active !== true) return undefined;
  return new Date(requested.at + requested.seconds * 1000).toISOString();
}

function requestedTtl(environment: EnvironmentParts): { seconds: number; at: number } | undefined {
  const request = pending(environment).find(({ name }) => name === 'ttl');
  const seconds = request && requestedTtlSeconds(request.value);
  return seconds === undefined ? undefined : { seconds, at: request?.at ?? 0 };
}

/** The build whose log is read when none is named: the running or last one; undefined while one is still to begin. */
export function currentBuild(environment: EnvironmentParts): number | undefined {
  return awaitsBuild(environment) ? undefined : environment.status?.build?.number;
}
