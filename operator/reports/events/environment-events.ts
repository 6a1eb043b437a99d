import { findCondition } from '../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { EventNote } from '../../../kubernetes/event-recorder.ts';
import { hasNamespace } from '../../kinds/environment/scope/contents.ts';
import { requestEvents, failureEvents } from './failure-events.ts';

type Activation = NonNullable<EnvironmentStatus['activation']>;

/** Reasons for waiting that need a user's action; all others pass by themselves. */
const warnings = new Set([
  'NamespaceTaken',
  'CredentialsMissing',
  'VariableMissing',
  'ServiceFileMissing',
  'RegistrySecretMissing',
  'KeyNotAccepted',
  'SshKeyMissing',
  'ServicesUnavailable',
]);

/**
 * Returns the events for an Environment that changed from `old` to `now`; none unless its state or a failure is new.
 */
export function environmentEvents(old: Environment | undefined, now: Environment): EventNote[] {
  const before = old?.status ?? {};
  const after = now.status ?? {};
  const build = buildEvents(before, after, now);
  const reported = new Set(build.map(({ reason }) => reason));
  return [
    ...deletionEvents(old, now),
    ...activationEvents(before, after),
    ...contentEvents(before, after),
    ...build,
    // A failed build has its own event.
    ...failureEvents(before, after, warnings).filter(({ reason }) => reason !== 'BuildFailed' && !reported.has(reason)),
    ...recoveryEvents(before, after),
    ...sleepEvents(before, after),
    ...requestEvents(before, after),
  ];
}

function normal(reason: string, note: string): EventNote {
  return { type: 'Normal', reason, note };
}

function deletionEvents(old: Environment | undefined, now: Environment): EventNote[] {
  const isNew = now.metadata.deletionTimestamp !== undefined && old && old.metadata.deletionTimestamp === undefined;
  return isNew ? [normal('Deleting', 'the object and its contents are deleted')] : [];
}

/** Returns events when contents are requested or no longer wanted. */
function activationEvents(before: EnvironmentStatus, after: EnvironmentStatus): EventNote[] {
  const { activation } = after;
  if (!activation || activation.active === (before.activation?.active ?? false)) return [];
  if (!activation.active) return [ending(after, activation)];
  return [normal('Creating', `the contents are being set up: ${causeOf(activation)}`)];
}

function ending(after: EnvironmentStatus, activation: Activation): EventNote {
  if (activation.rebuild)
    return normal('Rebuilding', `the contents are deleted, to be created again: ${causeOf(activation)}`);
  if (activation.reason === 'Expired') {
    const seconds = after.ttl?.seconds ?? 0;
    return normal('Expired', `the contents are deleted: their time to live of ${seconds} s is over`);
  }
  if (isRefGone(after, activation))
    return normal('RefGone', 'the contents are deleted: the ref no longer exists at the Git host');
  return normal('Removing', `the contents are deleted: ${causeOf(activation)}`);
}

function causeOf({ reason, active }: Activation): string {
  return reason === 'Spec' ? `spec.active is ${active}` : causes[reason];
}

const causes: Record<Exclude<Activation['reason'], 'Spec'>, string> = {
  CreateRequest: 'a create request',
  DeleteRequest: 'a delete request',
  RebuildRequest: 'a rebuild request',
  Schedule: "the repository's scheduled rebuild",
  Expired: 'their time to live is over',
};

/** Returns whether a sync, rather than a user, requested the deletion. */
function isRefGone({ handledRequests }: EnvironmentStatus, { reason }: Activation): boolean {
  return reason === 'DeleteRequest' && (handledRequests?.delete?.endsWith('/ref-gone') ?? false);
}

function contentEvents(before: EnvironmentStatus, after: EnvironmentStatus): EventNote[] {
  const created = findCondition(after.conditions, 'Created');
  const isSetUp = created?.status === 'True' && after.revision !== undefined;
  const wasSetUp = findCondition(before.conditions, 'Created')?.status === 'True' && before.revision !== undefined;
  return [
    ...(isSetUp && !wasSetUp ? [normal('Created', `${created.message} (commit ${short(after.commit)})`)] : []),
    ...(hasNamespace(before) && !hasNamespace(after) ? [normal('Removed', 'all contents are deleted')] : []),
  ];
}

function buildEvents(before: EnvironmentStatus, after: EnvironmentStatus, { spec }: Environment): EventNote[] {
  const { build } = after;
  const isNew = build !== undefined && build.number !== before.build?.number;
  const hasEnded = build !== undefined && build.result !== 'running' && (isNew || before.build?.result === 'running');
  const events: EventNote[] = [];
  if (isNew && before.build?.result === 'running')
    events.push(normal('BuildSuperseded', `build ${before.build.number}: another one replaces it`));
  if (isNew && build.result === 'running')
    events.push(normal('BuildStarted', `build ${build.number} of the ${spec.gitRef.type} ${spec.gitRef.name}`));
  if (build?.result === 'running') {
    if (isReconciling(after, 'Queued') && !isReconciling(before, 'Queued'))
      events.push(
        normal('BuildQueued', `build ${build.number}: ${findCondition(after.conditions, 'Ready')?.message ?? ''}`),
      );
    if (
      build.message !== undefined &&
      isReconciling(after, 'WaitingForImages') &&
      build.message !== before.build?.message
    )
      events.push(normal('WaitingForImages', `build ${build.number}: ${build.message}`));
  }
  const wasRolledOut = !isNew && before.build?.rolloutStartedAt !== undefined;
  // The Event of a success reports the images too.
  const isWorthAnEvent = build?.result === 'running' || (hasEnded && build.result !== 'succeeded');
  if (build?.rolloutStartedAt !== undefined && !wasRolledOut && isWorthAnEvent)
    events.push(
      normal('ImagesReady', `build ${build.number}: all images are in the registry; the services are being rolled out`),
    );
  if (hasEnded) events.push(endOfBuild(build, after));
  return events;
}

function endOfBuild(build: NonNullable<EnvironmentStatus['build']>, { conditions }: EnvironmentStatus): EventNote {
  const seconds = Math.round((Date.parse(build.finishedAt ?? build.startedAt) - Date.parse(build.startedAt)) / 1000);
  const note = `build ${build.number}: ${build.message ?? build.result}`;
  if (build.result === 'succeeded')
    return normal('BuildSucceeded', `${note}, after ${seconds} s (commit ${short(build.commit)})`);
  if (build.result === 'superseded') return normal('BuildSuperseded', note);
  if (build.result === 'cancelled') return normal('BuildCancelled', note);
  return { type: 'Warning', reason: findCondition(conditions, 'Built')?.reason ?? 'BuildFailed', note };
}

function recoveryEvents(before: EnvironmentStatus, after: EnvironmentStatus): EventNote[] {
  const reasonOf = ({ conditions }: EnvironmentStatus) => findCondition(conditions, 'Ready')?.reason;
  const isBack = reasonOf(before) === 'ServicesUnavailable' && reasonOf(after) === 'Built';
  return isBack ? [normal('ServicesAvailable', 'every service is ready again')] : [];
}

function sleepEvents(before: EnvironmentStatus, after: EnvironmentStatus): EventNote[] {
  const { sleep } = after;
  if (!sleep || sleep.asleep === (before.sleep?.asleep ?? false)) return [];
  return sleep.asleep
    ? [normal('FallingAsleep', `the services are stopped: ${sleepCauses[sleep.reason]}`)]
    : [normal('Waking', `the services are started: ${sleepCauses[sleep.reason]}`)];
}

const sleepCauses: Record<NonNullable<EnvironmentStatus['sleep']>['reason'], string> = {
  Requested: 'a request',
  Idle: 'nobody visited it',
  OutsideWorkingHours: 'the working hours are over',
  WorkingHours: 'the working hours have started',
  Visited: 'a visit',
  Build: 'a build',
};

function isReconciling({ conditions }: EnvironmentStatus, reason: string): boolean {
  return findCondition(conditions, 'Reconciling')?.reason === reason;
}

function short(commit: string | undefined): string {
  return commit?.slice(0, 12) ?? 'unknown';
}
