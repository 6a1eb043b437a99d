import { findCondition } from '../../crds/conditions.ts';
import type { Environment, EnvironmentState } from '../../crds/environment.ts';
import { pendingRequests } from '../../crds/requests.ts';
import { stateOf, wantsContents } from './contents.ts';

type EnvironmentParts = Pick<Environment, 'metadata' | 'spec' | 'status'>;

/**
 * Returns the contract's status as REST shows it. Once a request is accepted, it is never the former one: until the
 * request is carried out the status is `building`, also while contents are removed, so that nobody who polls for `built`,
 * `created` or `empty` is satisfied by what was there before. It follows from the object alone, so every replica shows
 * the same.
 */
export function shownStatus(environment: EnvironmentParts): EnvironmentState {
  return isOnItsWay(environment) ? 'building' : stateOf(environment);
}

function isOnItsWay(environment: EnvironmentParts): boolean {
  const { metadata, status = {} } = environment;
  const isEmpty = stateOf(environment) === 'empty';
  if (metadata.deletionTimestamp !== undefined || !wantsContents(environment)) {
    return !isEmpty || status.namespaceUID !== undefined;
  }
  const { activation, handledRequests } = status;
  const pending = pendingRequests(metadata.annotations, handledRequests);
  // A new environment has no former state: it is empty, then created, as it comes.
  if (!activation) return pending.some(({ name }) => name === 'create' || name === 'rebuild');
  if (pending.some(({ name }) => name === 'build' || name === 'rebuild' || (name === 'create' && isEmpty))) return true;
  if (activation.rebuild === true) return true;
  // What cannot go on is not on its way: it stays empty, and the conditions say why.
  if (isEmpty && isRefused(environment)) return false;
  if (activation.buildPending) return !isFirstOfSpec(environment);
  return isEmpty && activation.active && activation.reason === 'CreateRequest';
}

function isRefused({ status }: EnvironmentParts): boolean {
  return ['Stalled', 'Created'].some((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition !== undefined && condition.status === (type === 'Stalled' ? 'True' : 'False');
  });
}

/** Whether the build that is awaited is the one that spawning, or applying, the object asked for. */
function isFirstOfSpec({ spec, status = {} }: EnvironmentParts): boolean {
  const { activation, build } = status;
  if (activation?.reason !== 'Spec' || !spec.buildOnCreate) return false;
  return build === undefined || Date.parse(build.startedAt) < Date.parse(activation.since);
}
