import { findCondition } from '../../crds/conditions.ts';
import type { Environment, EnvironmentState } from '../../crds/environment.ts';
import { APPROVE_REQUEST, pendingRequests, requestAnnotation, requestedApproval } from '../../crds/requests.ts';
import { isRemoving, stateOf, wantsContents } from './contents.ts';

type EnvironmentViewInput = Pick<Environment, 'metadata' | 'spec' | 'status'>;

/**
 * Returns the contract's status as REST shows it. After a request is accepted, the status is `building` until the
 * request is carried out, also while contents are removed: a client that polls for `built`, `created` or `empty` must
 * not see the state before its request. The status depends on the object alone, so every replica shows the same.
 */
export function shownStatus(environment: EnvironmentViewInput): EnvironmentState {
  return isOnItsWay(environment) ? 'building' : stateOf(environment);
}

function isOnItsWay(environment: EnvironmentViewInput): boolean {
  const { metadata, status = {} } = environment;
  const isEmpty = stateOf(environment) === 'empty';
  if (metadata.deletionTimestamp !== undefined || !wantsContents(environment)) return isRemoving(environment);
  const { activation, handledRequests } = status;
  const pending = pendingRequests(metadata.annotations, handledRequests);
  // A new environment has no previous state: it is empty, then created.
  if (!activation) return pending.some(({ name }) => name === 'create' || name === 'rebuild');
  if (pending.some(({ name }) => name === 'build' || name === 'rebuild' || (name === 'create' && isEmpty))) return true;
  // Nothing is in progress while a commit of a fork waits for an approval, which may never come.
  if (status.approval?.waitingCommit !== undefined) return isBeingApproved(environment);
  if (activation.rebuild === true) return true;
  // A stalled environment is not in progress: it stays empty, and the conditions say why.
  if (isEmpty && isRefused(environment)) return false;
  if (activation.buildPending) return !isFirstOfSpec(environment);
  return isEmpty && activation.active && activation.reason === 'CreateRequest';
}

/** Returns whether the commit that waits was approved, and the operator has not handled that yet. */
function isBeingApproved({ metadata, status }: EnvironmentViewInput): boolean {
  const request = metadata.annotations?.[requestAnnotation(APPROVE_REQUEST)];
  if (request === undefined || request === status?.approval?.request) return false;
  return requestedApproval(request)?.commit === status?.approval?.waitingCommit;
}

function isRefused({ status }: EnvironmentViewInput): boolean {
  return ['Stalled', 'Created'].some((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition !== undefined && condition.status === (type === 'Stalled' ? 'True' : 'False');
  });
}

/** Returns whether the pending build is the one requested when the object was created. */
function isFirstOfSpec({ spec, status = {} }: EnvironmentViewInput): boolean {
  const { activation, build } = status;
  if (activation?.reason !== 'Spec' || !spec.buildOnCreate) return false;
  return build === undefined || Date.parse(build.startedAt) < Date.parse(activation.since);
}
