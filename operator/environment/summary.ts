import type { ConditionReport } from '../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import { Stalled, Waiting } from '../errors.ts';
import { afterError, brief, ready, reconciling, stalled } from '../conditions.ts';

export interface SummaryInput {
  state: EnvironmentStatus['state'];
  /** Whether the namespace is there. */
  present: boolean;
  wanted: boolean;
  buildPending: boolean;
  build: EnvironmentStatus['build'];
  /** Every service that should run does; undefined when none should. */
  available: boolean | undefined;
  /** What still has to happen, for people; empty when nothing. */
  waitingFor: readonly string[];
  /** Until when it is waited for. */
  givesUpAt: Date | undefined;
  /** What was reported before: every service ran. */
  wasReady: boolean;
  /** What the reconcile ended with, if it did not end well. */
  error: unknown;
}

/** What the summing conditions say of an Environment; nothing where nothing is known yet that was not before. */
export function summarize(input: SummaryInput): ConditionReport[] {
  const { build, state } = input;
  if (input.error !== undefined) {
    const reports = afterError(input.error);
    // What failed on the way says nothing of the services that run.
    return isPassing(input.error) && runsAsBefore(input) ? reports.filter(({ type }) => type !== 'Ready') : reports;
  }
  if (!input.wanted) {
    if (!input.present) return ready('Empty', 'the environment has no contents, as is wanted');
    return reconciling('RemovingContents', 'the contents are being removed');
  }
  if (build?.result === 'running') {
    const until = input.givesUpAt ? ` until ${input.givesUpAt.toISOString().replace(/\.\d+Z$/, 'Z')}` : '';
    const waiting = input.waitingFor.length > 0 ? `; waiting${until} for ${input.waitingFor.join('; ')}` : '';
    return reconciling('Building', `build ${build.number} is under way${waiting}`);
  }
  if (state === 'empty') return reconciling('Creating', 'the contents are being set up');
  if (input.buildPending) return reconciling('BuildPending', 'a build is about to start');
  if (build?.result === 'failed') return stalled('BuildFailed', brief(build.message ?? 'the build failed'));
  if (input.available === false)
    return reconciling('ServicesUnavailable', `waiting for ${input.waitingFor.join('; ')}`);
  if (state === 'built' && input.available === true) return ready('Built', 'every service runs');
  if (runsAsBefore(input)) return [];
  if (state === 'built') return reconciling('ServicesUnavailable', 'the services are being looked at');
  return ready('Created', 'the services are set up; a build makes them run');
}

function isPassing(error: unknown): boolean {
  return !(error instanceof Stalled || error instanceof Waiting);
}

/** It was ready, and this reconcile has not found out anything else. */
function runsAsBefore({ wasReady, wanted, state, buildPending, build, available }: SummaryInput): boolean {
  const isBuilding = buildPending || (build !== undefined && build.result !== 'succeeded');
  return wasReady && wanted && state === 'built' && !isBuilding && available !== false;
}
