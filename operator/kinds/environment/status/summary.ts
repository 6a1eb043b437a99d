import type { ConditionReport } from '../../../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { timeText } from '../../../shared/time-text.ts';
import { WAITING_FOR_APPROVAL } from '../revision/approval.ts';
import { afterError, brief, ready, reconciling, stalled, terminating } from '../../../shared/conditions.ts';

export interface SummaryInput {
  state: EnvironmentStatus['state'];
  /** Whether the namespace exists. */
  present: boolean;
  wanted: boolean;
  /** Whether the object is being deleted. */
  deleting: boolean;
  /** When the time to live of the contents ended, and how long it was; undefined if something else ended them. */
  expired: { at: string; seconds: number } | undefined;
  /** Whether its services are to be stopped. */
  asleep: boolean;
  /** Whether its services start after a sleep. */
  waking: boolean;
  buildPending: boolean;
  build: EnvironmentStatus['build'];
  /** Whether every service that should run is ready; undefined if none should. */
  available: boolean | undefined;
  /** What new contents wait for, if it is the approval of a fork's commit. */
  heldForApproval?: string | undefined;
  /** Pending steps as readable texts; empty if there are none. */
  waitingFor: readonly string[];
  /** When the rollout fails if it is not complete. */
  givesUpAt: Date | undefined;
  /** Whether every service was ready before. */
  wasReady: boolean;
  /** The error that ended the reconcile, if any. */
  error: unknown;
}

/** Returns the summarizing conditions of an Environment; none if nothing new is known. */
export function summarize(input: SummaryInput): ConditionReport[] {
  const { build, state } = input;
  if (input.deleting) return terminating('the environment is being deleted, with its contents');
  if (input.error !== undefined) {
    const reports = afterError(input.error);
    // An error on the way does not affect services that are running.
    return isPassing(input.error) && runsAsBefore(input) ? reports.filter(({ type }) => type !== 'Ready') : reports;
  }
  if (!input.wanted) {
    const { expired } = input;
    if (!input.present && expired) {
      const at = timeText(new Date(expired.at));
      return ready('Expired', `the environment is empty since ${at}: its time to live of ${expired.seconds} s ended`);
    }
    if (!input.present) return ready('Empty', 'the environment has no contents, as requested');
    const why = expired ? ': their time to live is over' : '';
    return reconciling('RemovingContents', `the contents are being deleted${why}`);
  }
  if (build?.result === 'running') {
    const until = input.givesUpAt ? ` until ${timeText(input.givesUpAt)}` : '';
    const waiting = input.waitingFor.length > 0 ? `; waiting${until} for ${input.waitingFor.join('; ')}` : '';
    return reconciling('Building', `build ${build.number} is under way${waiting}`);
  }
  // Until this reconcile has checked again, what was reported stays.
  if (state === 'empty' && input.heldForApproval !== undefined) {
    return reconciling(WAITING_FOR_APPROVAL, input.heldForApproval);
  }
  if (state === 'empty') return reconciling('Creating', 'the contents are being set up');
  if (input.buildPending) return reconciling('BuildPending', 'a build is about to start');
  if (build?.result === 'failed') return stalled('BuildFailed', brief(build.message ?? 'the build failed'));
  if (input.asleep) return ready('Asleep', 'the environment sleeps: its services are stopped until it wakes');
  if (input.available === false) {
    const reason = input.waking ? 'Waking' : 'ServicesUnavailable';
    return reconciling(reason, `waiting for ${input.waitingFor.join('; ')}`);
  }
  if (state === 'built' && input.available === true) return ready('Built', 'every service is ready');
  if (runsAsBefore(input)) return [];
  if (state === 'built') return reconciling('ServicesUnavailable', 'the services are being checked');
  return ready('Created', 'the services are set up; a build starts them');
}

function isPassing(error: unknown): boolean {
  return !(error instanceof Stalled || error instanceof Waiting);
}

/** Returns whether it was ready, and this reconcile has found nothing to the contrary. */
function runsAsBefore({ wasReady, wanted, state, buildPending, build, available }: SummaryInput): boolean {
  const isBuilding = buildPending || (build !== undefined && build.result !== 'succeeded');
  return wasReady && wanted && state === 'built' && !isBuilding && available !== false;
}
