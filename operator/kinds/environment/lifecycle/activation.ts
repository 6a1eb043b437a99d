import type { EnvironmentSpec, EnvironmentStatus } from '../../../../crds/environment.ts';
import { isDue, seenSchedule, type Schedule } from './schedule.ts';
import { pendingRequests, type HandledRequests, type RequestName } from '../../../../crds/requests.ts';
import { expiryOf, hasExpired, requestedTtl, type Ttl, type TtlInput } from './ttl.ts';

export type Activation = NonNullable<EnvironmentStatus['activation']>;

export interface ActivationInput extends TtlInput {
  spec: Pick<EnvironmentSpec, 'active' | 'buildOnCreate' | 'ttlSeconds'>;
  status: Pick<EnvironmentStatus, 'activation' | 'ttl' | 'schedule' | 'handledRequests'>;
  /** The repository's scheduled rebuild, if it has one. */
  schedule?: Schedule | undefined;
  /** Whether the schedule includes this environment; called when it is due. */
  takesPart?: () => boolean;
  /** Whether the namespace exists; new contents start only when the former namespace is gone. */
  isPresent: boolean;
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
   * Whether the object can be deleted too: the contents end because of a delete request or the TTL, or a delete request
   * is for an environment without contents.
   */
  ended: boolean;
}

/**
 * Decides whether an environment is to have contents. The last decisive event wins: a change of spec.active, a create
 * or delete request, the end of the TTL. Makes at most one transition: a later request waits until the transition is
 * complete.
 */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { status, now } = input;
  const before = status.activation;
  const requested = requestedTtl(input);
  const schedule = seenSchedule(input.schedule, status.schedule, now);

  const bySpec = activationBySpec(input);
  const isOver = bySpec.active && hasExpired(requested.ttl, now);
  const byTtl = isOver ? transition(bySpec, 'Expired', now) : bySpec;
  const byTime = isRebuildTime(input, schedule, byTtl) ? rebuilt(byTtl, 'Schedule', now) : byTtl;
  const { activation, handledRequests, isDeletion } = applyRequests(input, byTime, requested.handledRequests);

  const started = activation.active && before?.active !== true;
  // A nightly rebuild must not restart the TTL, or an environment with a TTL of three days would never expire.
  const isRestarted = started && activation.reason !== 'Schedule';
  const ttl = isRestarted && requested.ttl ? { ...requested.ttl, since: now.toISOString() } : requested.ttl;
  return {
    activation,
    ttl,
    schedule,
    expiresAt: activation.active ? expiryOf(ttl)?.toISOString() : undefined,
    handledRequests,
    started,
    ended: before !== undefined && !activation.active && (isOver || isDeletion),
  };
}

/** Returns the activation after a change of spec.active, or after the former contents of a rebuild are gone. */
function activationBySpec(input: ActivationInput): Activation {
  const { spec, status, now } = input;
  const before = status.activation;
  if (!before) return firstActivation(spec, now);
  return transitionBySpec(comeAgain(before, now, canStart(input)), spec, now, canStart(input));
}

/** Whether new contents can start: the former ones are gone, or are not to be deleted. */
function canStart({ status, isPresent }: ActivationInput): boolean {
  return status.activation === undefined || status.activation.active || !isPresent;
}

function isRebuildTime(input: ActivationInput, seen: ActivationDecision['schedule'], activation: Activation): boolean {
  const { schedule, now, takesPart } = input;
  if (!activation.active || activation.rebuild === true) return false;
  if (!isDue(schedule, seen, activation.since) || (schedule?.starts ?? now) > now) return false;
  return takesPart?.() !== false;
}

/** Applies requests from the oldest to the newest, until one has to wait for the transition to be complete. */
function applyRequests(
  input: ActivationInput,
  decided: Activation,
  handled: HandledRequests,
): { activation: Activation; handledRequests: HandledRequests; isDeletion: boolean } {
  const before = input.status.activation;
  const handledRequests: HandledRequests = { ...handled };
  let activation = decided;
  let isDeletion = false;
  for (const { name, value } of pendingRequests(input.annotations, handled)) {
    // A rebuild request joins the rebuild that is in progress. Deferred, it would start another one after that build has
    // started.
    const isJoined = name === 'rebuild' && activation.rebuild === true;
    if (!isJoined) {
      const hasTransitioned = before !== undefined && before.active !== activation.active;
      const isStart = ['create', 'rebuild'].includes(name) && !activation.active;
      if (hasTransitioned || (isStart && !canStart(input))) break;
      activation = afterRequest(activation, name, input.now);
      isDeletion ||= name === 'delete';
    }
    handledRequests[name] = value;
  }
  return { activation, handledRequests, isDeletion };
}

function afterRequest(activation: Activation, name: RequestName, now: Date): Activation {
  if (name === 'build') return { ...activation, buildPending: activation.active };
  if (name === 'rebuild') {
    const next = rebuilt(activation, 'RebuildRequest', now);
    return { ...next, buildPending: next.active };
  }
  if (activation.active !== (name === 'create')) {
    return transition(activation, name === 'create' ? 'CreateRequest' : 'DeleteRequest', now);
  }
  // Contents that are being deleted for a rebuild are not created again.
  return name === 'delete' ? { ...activation, rebuild: undefined, reason: 'DeleteRequest' } : activation;
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

/** Starts a rebuild: the contents are deleted, and then requested again. */
function rebuilt(activation: Activation, reason: Activation['reason'], now: Date): Activation {
  return { ...transition(activation, reason, now), rebuild: true };
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
