import type { EnvironmentSpec, EnvironmentStatus } from '../../../../crds/environment.ts';
import { pendingRequests, requestedTtlSeconds, type HandledRequests } from '../../../../crds/requests.ts';

export type Ttl = NonNullable<EnvironmentStatus['ttl']>;

export interface TtlInput {
  spec: Pick<EnvironmentSpec, 'ttlSeconds'>;
  annotations: Record<string, string> | undefined;
  status: Pick<EnvironmentStatus, 'activation' | 'ttl' | 'handledRequests'>;
  /** The repository's default for a new environment that sets no TTL; 0 means unlimited. */
  defaultTtlSeconds: number;
  /** Whether this is the object's first reconcile; false for an adopted object that lost its status. */
  isNew?: boolean;
  now: Date;
}

/**
 * Returns the TTL after the pending requests. A TTL counts from the reconcile that first sees it, or from a later
 * request that creates contents. It is determined before expiry is checked and does not wait for a transition, so that
 * the TTL of a PUT applies to the contents that this PUT creates.
 */
export function requestedTtl(input: TtlInput): { ttl: Ttl | undefined; handledRequests: HandledRequests } {
  const { spec, status, now } = input;
  const isFresh = (input.isNew ?? status.activation === undefined) && spec.ttlSeconds === undefined;
  const handledRequests: HandledRequests = { ...status.handledRequests };
  let ttl = isFresh ? defaultTtl(input) : ttlOf(spec, status.ttl, now);
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (request.name !== 'ttl') continue;
    handledRequests.ttl = request.value;
    const seconds = requestedTtlSeconds(request.value);
    // A value without a number of seconds is ignored.
    if (seconds !== undefined) ttl = { ...ttl, seconds, since: now.toISOString() };
  }
  return { ttl, handledRequests };
}

/** Returns when contents with this TTL expire; undefined if they do not. */
export function expiryOf(ttl: Ttl | undefined): Date | undefined {
  return ttl && ttl.seconds > 0 ? new Date(Date.parse(ttl.since) + ttl.seconds * 1000) : undefined;
}

export function hasExpired(ttl: Ttl | undefined, now: Date): boolean {
  const expiry = expiryOf(ttl);
  return expiry !== undefined && expiry <= now;
}

/** Set at the first reconcile and kept: later changes of the repository's default apply to newer environments. */
function defaultTtl({ defaultTtlSeconds: seconds, now }: TtlInput): Ttl | undefined {
  return seconds > 0 ? { seconds, since: now.toISOString() } : undefined;
}

function ttlOf(spec: TtlInput['spec'], before: Ttl | undefined, now: Date): Ttl | undefined {
  if (spec.ttlSeconds === before?.specSeconds) return before;
  return { seconds: spec.ttlSeconds ?? 0, since: now.toISOString(), specSeconds: spec.ttlSeconds };
}
