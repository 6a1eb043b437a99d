import type { EnvironmentSpec, EnvironmentStatus } from '../../crds/environment.ts';
import { pendingRequests, requestedTtlSeconds, type HandledRequests } from '../../crds/requests.ts';

export type Activation = NonNullable<EnvironmentStatus['activation']>;
export type Ttl = NonNullable<EnvironmentStatus['ttl']>;

export interface ActivationInput {
  spec: Pick<EnvironmentSpec, 'active' | 'buildOnCreate' | 'ttlSeconds'>;
  annotations: Record<string, string> | undefined;
  status: Pick<EnvironmentStatus, 'activation' | 'ttl' | 'handledRequests'>;
  /** Whether contents are there; new ones begin only when former ones are gone. */
  isPresent: boolean;
  now: Date;
}

export interface ActivationDecision {
  activation: Activation;
  ttl: Ttl | undefined;
  /** RFC 3339; absent when the contents do not end by themselves. */
  expiresAt: string | undefined;
  handledRequests: HandledRequests;
  /** This decision asks for contents that were not wanted before. */
  began: boolean;
  /** This decision ends contents for a reason that may take the object with them (design: DELETE, the TTL's end). */
  ended: boolean;
}

/**
 * Whether the contents are wanted is what the last decisive event says: a change of spec.active, a create or delete
 * request, the TTL's end. At most one turn is taken at a time: what is asked for after it waits until it is done.
 */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { spec, status, now } = input;
  const before = status.activation;
  const handledRequests: HandledRequests = { ...status.handledRequests };
  const mayBegin = before === undefined || before.active || !input.isPresent;
  let activation = before ? turnBySpec(before, spec, now, mayBegin) : firstActivation(spec, now);
  let ttl = ttlOf(spec, status.ttl, now);
  const turned = () => before !== undefined && before.active !== activation.active;

  if (isExpired(activation, ttl, now)) activation = turn(activation, 'Expired', now);
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (turned() || (request.name === 'create' && !mayBegin)) break;
    handledRequests[request.name] = request.value;
    if (request.name === 'ttl') {
      const seconds = requestedTtlSeconds(request.value);
      // A value that names no seconds asks for nothing.
      if (seconds !== undefined) ttl = { ...ttl, seconds, since: now.toISOString() };
    } else if (request.name === 'build') {
      activation = { ...activation, buildPending: activation.active };
    } else if (activation.active !== (request.name === 'create')) {
      activation = turn(activation, request.name === 'create' ? 'CreateRequest' : 'DeleteRequest', now);
    }
  }

  const began = activation.active && before?.active !== true;
  if (began && ttl) ttl = { ...ttl, since: now.toISOString() };
  return {
    activation,
    ttl,
    expiresAt: activation.active ? expiryOf(ttl)?.toISOString() : undefined,
    handledRequests,
    began,
    ended: before?.active === true && !activation.active && activation.reason !== 'Spec',
  };
}

function firstActivation(spec: ActivationInput['spec'], now: Date): Activation {
  return {
    active: spec.active,
    since: now.toISOString(),
    reason: 'Spec',
    specActive: spec.active,
    buildPending: spec.active && spec.buildOnCreate,
  };
}

function turnBySpec(before: Activation, spec: ActivationInput['spec'], now: Date, mayBegin: boolean): Activation {
  if (before.specActive === spec.active || (spec.active && !mayBegin)) return before;
  const seen = { ...before, specActive: spec.active };
  if (before.active === spec.active) return seen;
  return { ...turn(seen, 'Spec', now), buildPending: spec.active && spec.buildOnCreate };
}

function turn(activation: Activation, reason: Activation['reason'], now: Date): Activation {
  return { ...activation, active: !activation.active, since: now.toISOString(), reason, buildPending: false };
}

function ttlOf(spec: ActivationInput['spec'], before: Ttl | undefined, now: Date): Ttl | undefined {
  if (spec.ttlSeconds === before?.specSeconds) return before;
  return { seconds: spec.ttlSeconds ?? 0, since: now.toISOString(), specSeconds: spec.ttlSeconds };
}

function expiryOf(ttl: Ttl | undefined): Date | undefined {
  return ttl && ttl.seconds > 0 ? new Date(Date.parse(ttl.since) + ttl.seconds * 1000) : undefined;
}

function isExpired(activation: Activation, ttl: Ttl | undefined, now: Date): boolean {
  const expiry = expiryOf(ttl);
  return activation.active && expiry !== undefined && expiry <= now;
}
