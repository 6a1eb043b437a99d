import type { EnvironmentSpec, EnvironmentStatus } from '../../../../crds/environment.ts';
import { isDue, seenSchedule, type Schedule } from './schedule.ts';
import { pendingRequests, requestedTtlSeconds, type HandledRequests } from '../../../../crds/requests.ts';

export type Activation = NonNullable<EnvironmentStatus['activation']>;
export type Ttl = NonNullable<EnvironmentStatus['ttl']>;

export interface ActivationInput {
  spec: Pick<EnvironmentSpec, 'active' | 'buildOnCreate' | 'ttlSeconds'>;
  annotations: Record<string, string> | undefined;
  status: Pick<EnvironmentStatus, 'activation' | 'ttl' | 'schedule' | 'handledRequests'>;
  /** The repository's default for a new environment that sets no TTL; 0 means unlimited. */
  defaultTtlSeconds: number;
  /** The repository's scheduled rebuild, if it has one. */
  schedule?: Schedule | undefined;
  /** Whether the schedule includes this environment; called when it is due. */
  takesPart?: () => boolean;
  /** Whether this is the object's first reconcile. One that lost its status and was adopted had its first before. */
  isNew?: boolean;
  /** Whether the namespace exists; new contents start only when the former namespace is gone. */
  isPresent: boolean;
  now: Date;
}

export interface ActivationDecision {
  activation: Activation;
  ttl: Ttl | undefined;
  /** RFC 3339; absent if the contents do not expire. */
  expiresAt: string | undefined;
  schedule: EnvironmentStatus['schedule'];
  handledRequests: HandledRequests;
  /** Whether this decision requests contents that were not wanted before. */
  started: boolean;
  /**
   * Whether this decision ends the contents for a reason that can delete the object too (DELETE, expiry of the TTL), or
   * requests so of an environment without contents.
   */
  ended: boolean;
}

/**
 * Decides whether an environment is to have contents. The last decisive event wins: a change of spec.active, a create
 * or delete request, the end of the TTL. Makes at most one transition: a later request waits until the transition is
 * complete.
 */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { spec, status, now } = input;
  const before = status.activation;
  const handledRequests: HandledRequests = { ...status.handledRequests };
  const canStart = before === undefined || before.active || !input.isPresent;
  let activation = before
    ? transitionBySpec(comeAgain(before, now, canStart), spec, now, canStart)
    : firstActivation(spec, now);
  const fresh = (input.isNew ?? before === undefined) && spec.ttlSeconds === undefined;
  let ttl = fresh ? defaultTtl(input) : ttlOf(spec, status.ttl, now);
  // Belongs to the contents that the same PUT requests, and is checked before their expiry: a TTL never waits for a
  // transition.
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (request.name !== 'ttl') continue;
    handledRequests.ttl = request.value;
    const seconds = requestedTtlSeconds(request.value);
    // A value without a number of seconds is ignored.
    if (seconds !== undefined) ttl = { ...ttl, seconds, since: now.toISOString() };
  }
  let isRemoval = false;
  const transitioned = () => before !== undefined && before.active !== activation.active;

  if (isExpired(activation, ttl, now)) {
    activation = transition(activation, 'Expired', now);
    isRemoval = true;
  }
  const schedule = seenSchedule(input.schedule, status.schedule, now);
  const isTime = isDue(input.schedule, schedule, activation.since) && (input.schedule?.starts ?? now) <= now;
  if (mayRebuild(activation) && isTime && input.takesPart?.() !== false) {
    activation = { ...transition(activation, 'Schedule', now), rebuild: true };
  }
  for (const request of pendingRequests(input.annotations, handledRequests)) {
    if (request.name === 'rebuild' && activation.rebuild === true) {
      // It joins the rebuild that is in progress. Deferred, it would start another one after that build has started.
      handledRequests.rebuild = request.value;
      continue;
    }
    if (transitioned() || (['create', 'rebuild'].includes(request.name) && !activation.active && !canStart)) break;
    handledRequests[request.name] = request.value;
    isRemoval ||= request.name === 'delete';
    if (request.name === 'build') {
      activation = { ...activation, buildPending: activation.active };
    } else if (request.name === 'rebuild') {
      activation = { ...transition(activation, 'RebuildRequest', now), rebuild: true };
      activation.buildPending = activation.active;
    } else if (activation.active !== (request.name === 'create')) {
      activation = transition(activation, request.name === 'create' ? 'CreateRequest' : 'DeleteRequest', now);
    } else if (request.name === 'delete') {
      // Contents that are being deleted for a rebuild are not created again.
      activation = { ...activation, rebuild: undefined, reason: 'DeleteRequest' };
    }
  }

  const started = activation.active && before?.active !== true;
  // A nightly rebuild must not restart the TTL, or an environment with a TTL of three days would never expire.
  if (started && ttl && activation.reason !== 'Schedule') ttl = { ...ttl, since: now.toISOString() };
  return {
    activation,
    ttl,
    schedule,
    expiresAt: activation.active ? expiryOf(ttl)?.toISOString() : undefined,
    handledRequests,
    started,
    ended: before !== undefined && !activation.active && isRemoval,
  };
}

/** Whether a request is pending that can start once the current transition is complete. */
export function awaitsEarlierRequest({
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

/** The second half of a rebuild: when the former contents are gone, new ones are requested. */
function comeAgain(before: Activation, now: Date, canStart: boolean): Activation {
  if (before.active || before.rebuild !== true || !canStart) return before;
  return { ...transition(before, before.reason, now), buildPending: true, rebuild: true };
}

function transitionBySpec(before: Activation, spec: ActivationInput['spec'], now: Date, canStart: boolean): Activation {
  if (before.specActive === spec.active || (spec.active && !canStart)) return before;
  const seen = { ...before, specActive: spec.active };
  if (before.active === spec.active) return seen;
  return { ...transition(seen, 'Spec', now), buildPending: spec.active && spec.buildOnCreate };
}

function transition(activation: Activation, reason: Activation['reason'], now: Date): Activation {
  return {
    ...activation,
    active: !activation.active,
    since: now.toISOString(),
    reason,
    buildPending: false,
    rebuild: undefined,
  };
}

/** Set at the first reconcile and kept: later changes of the repository's default apply to newer environments. */
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
