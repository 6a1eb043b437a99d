import type { EnvironmentSpec, EnvironmentStatus } from '../../crds/environment.ts';
import { isDue, seenSchedule, type Schedule } from './schedule.ts';
import { pendingRequests, requestedTtlSeconds, type HandledRequests } from '../../crds/requests.ts';

export type Activation = NonNullable<EnvironmentStatus['activation']>;
export type Ttl = NonNullable<EnvironmentStatus['ttl']>;

export interface ActivationInput {
  spec: Pick<EnvironmentSpec, 'active' | 'buildOnCreate' | 'ttlSeconds'>;
  annotations: Record<string, string> | undefined;
  status: Pick<EnvironmentStatus, 'activation' | 'ttl' | 'schedule' | 'handledRequests'>;
  /** The repository's, for an environment that is new and names none itself; 0 means that contents do not end. */
  defaultTtlSeconds: number;
  /** The repository's scheduled rebuild, where it has one. */
  schedule?: Schedule | undefined;
  /** Whether the schedule is meant for this environment; asked when it is due. */
  takesPart?: () => boolean;
  /** Whether this is the first look at the object; one that lost its status and was adopted had its first before. */
  isNew?: boolean;
  /** Whether contents are there; new ones begin only when former ones are gone. */
  isPresent: boolean;
  now: Date;
}

export interface ActivationDecision {
  activation: Activation;
  ttl: Ttl | undefined;
  /** RFC 3339; absent when the contents do not end by themselves. */
  expiresAt: string | undefined;
  schedule: EnvironmentStatus['schedule'];
  handledRequests: HandledRequests;
  /** This decision asks for contents that were not wanted before. */
  began: boolean;
  /**
   * This decision ends contents for a reason that may take the object with them (design: DELETE, the TTL's end), or
   * asks so of what has none.
   */
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
  let activation = before
    ? turnBySpec(comeAgain(before, now, mayBegin), spec, now, mayBegin)
    : firstActivation(spec, now);
  const fresh = (input.isNew ?? before === undefined) && spec.ttlSeconds === undefined;
  let ttl = fresh ? defaultTtl(input) : ttlOf(spec, status.ttl, now);
  // Of contents that one PUT asks for, and before their end is looked at: a TTL waits for no turn.
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (request.name !== 'ttl') continue;
    handledRequests.ttl = request.value;
    const seconds = requestedTtlSeconds(request.value);
    // A value that names no seconds asks for nothing.
    if (seconds !== undefined) ttl = { ...ttl, seconds, since: now.toISOString() };
  }
  let isRemoval = false;
  const turned = () => before !== undefined && before.active !== activation.active;

  if (isExpired(activation, ttl, now)) {
    activation = turn(activation, 'Expired', now);
    isRemoval = true;
  }
  const schedule = seenSchedule(input.schedule, status.schedule, now);
  const isTime = isDue(input.schedule, schedule, activation.since) && (input.schedule?.begins ?? now) <= now;
  if (mayRebuild(activation) && isTime && input.takesPart?.() !== false) {
    activation = { ...turn(activation, 'Schedule', now), rebuild: true };
  }
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (request.name === 'rebuild' && activation.rebuild === true) {
      // It joins the one that is under way; left for later, it would come when that one's build has begun.
      handledRequests.rebuild = request.value;
      continue;
    }
    if (turned() || (['create', 'rebuild'].includes(request.name) && !activation.active && !mayBegin)) break;
    handledRequests[request.name] = request.value;
    isRemoval ||= request.name === 'delete';
    if (request.name === 'build') {
      activation = { ...activation, buildPending: activation.active };
    } else if (request.name === 'rebuild') {
      activation = { ...turn(activation, 'RebuildRequest', now), rebuild: true };
      activation.buildPending = activation.active;
    } else if (activation.active !== (request.name === 'create')) {
      activation = turn(activation, request.name === 'create' ? 'CreateRequest' : 'DeleteRequest', now);
    } else if (request.name === 'delete') {
      // Contents that are on their way out for a rebuild do not come again.
      activation = { ...activation, rebuild: undefined, reason: 'DeleteRequest' };
    }
  }

  const began = activation.active && before?.active !== true;
  // Rebuilt every night, what is to end after three days would never end.
  if (began && ttl && activation.reason !== 'Schedule') ttl = { ...ttl, since: now.toISOString() };
  return {
    activation,
    ttl,
    schedule,
    expiresAt: activation.active ? expiryOf(ttl)?.toISOString() : undefined,
    handledRequests,
    began,
    ended: before !== undefined && !activation.active && isRemoval,
  };
}

/** Whether something was asked for that a turn, once it is over, lets begin. */
export function awaitsTurn({
  spec,
  annotations,
  status: { activation, handledRequests },
}: Pick<ActivationInput, 'annotations' | 'status'> & { spec: Pick<EnvironmentSpec, 'active'> }): boolean {
  if (pendingRequests(annotations, handledRequests).length > 0) return true;
  if (!activation) return false;
  return activation.specActive !== spec.active || (!activation.active && activation.rebuild === true);
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

function mayRebuild(activation: Activation): boolean {
  return activation.active && activation.rebuild !== true;
}

/** The second half of a rebuild: once the former contents are gone, new ones are wanted. */
function comeAgain(before: Activation, now: Date, mayBegin: boolean): Activation {
  if (before.active || before.rebuild !== true || !mayBegin) return before;
  return { ...turn(before, before.reason, now), buildPending: true, rebuild: true };
}

function turnBySpec(before: Activation, spec: ActivationInput['spec'], now: Date, mayBegin: boolean): Activation {
  if (before.specActive === spec.active || (spec.active && !mayBegin)) return before;
  const seen = { ...before, specActive: spec.active };
  if (before.active === spec.active) return seen;
  return { ...turn(seen, 'Spec', now), buildPending: spec.active && spec.buildOnCreate };
}

function turn(activation: Activation, reason: Activation['reason'], now: Date): Activation {
  return {
    ...activation,
    active: !activation.active,
    since: now.toISOString(),
    reason,
    buildPending: false,
    rebuild: undefined,
  };
}

/** Kept from the first look on: what the repository says later is for newer environments. */
function defaultTtl({ defaultTtlSeconds: seconds, now }: ActivationInput): Ttl | undefined {
  return seconds > 0 ? { seconds, since: now.toISOString() } : undefined;
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
