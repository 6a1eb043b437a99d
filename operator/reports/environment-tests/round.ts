import { isDeepStrictEqual } from 'node:util';
import { findCondition } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import { TESTED, type TestRun, type TestsStatus } from '../../../crds/environment-tests.ts';
import { requestAnnotation, TEST_REQUEST } from '../../../crds/requests.ts';

/** What the tests run for: a build that became ready and, if they were requested again, that request. */
export type Round = Pick<TestsStatus, 'build' | 'request'>;

/** Returns the round of tests that an Environment needs; undefined if nothing is deployed, or it has no tests. */
export function wantedRound({ metadata, status }: Environment): Round | undefined {
  const { deployed } = status ?? {};
  if (metadata.deletionTimestamp !== undefined || deployed?.tests === undefined) return undefined;
  // A request whose annotation was removed has been handled.
  const handled = status?.tests?.build === deployed.number ? status.tests.request : undefined;
  const request = metadata.annotations?.[requestAnnotation(TEST_REQUEST)] ?? handled;
  return { build: deployed.number, ...(request !== undefined && { request }) };
}

export function isOfRound(of: Round | undefined, { build, request }: Round): boolean {
  return of?.build === build && of.request === request;
}

export function isOver({ runs }: Pick<TestsStatus, 'runs'>): boolean {
  return runs.every(isRunOver);
}

export function isRunOver({ outcome }: TestRun): boolean {
  return outcome !== 'pending' && outcome !== 'running';
}

/**
 * Returns whether tests can start. The services of a woken environment must run: before, a browser would get the page that
 * shows them starting. Those of a build have run, so that tests report one that no longer does.
 */
export function canStart({ status, spec }: Environment): boolean {
  const { state, sleep, deployed, services = [] } = status ?? {};
  if (spec.suspend === true || state !== 'built' || sleep?.asleep === true) return false;
  const hasWoken = sleep !== undefined && Date.parse(sleep.since) > Date.parse(deployed?.finishedAt ?? '');
  return !hasWoken || services.every(({ ready }) => ready);
}

/** Returns whether reconciling an Environment may have something to do, judged by the object alone. */
export function needsReconcile(environment: Environment): boolean {
  const round = wantedRound(environment);
  const { tests } = environment.status ?? {};
  if (!round) return environment.metadata.deletionTimestamp === undefined && isAnythingReported(environment);
  return !tests || !isOfRound(tests, round) || !isOver(tests);
}

/** Returns whether the status contains anything about tests. */
export function isAnythingReported({ status }: Environment): boolean {
  return status?.tests !== undefined || findCondition(status?.conditions, TESTED) !== undefined;
}

/**
 * Returns whether both versions of an Environment need the same round of tests, and both or none permit it. Status written
 * by the tests themselves makes no difference.
 */
export function isSameRequest(now: Environment, before: Environment): boolean {
  const requestOf = (one: Environment) => [wantedRound(one), one.status?.state, canStart(one)];
  return isDeepStrictEqual(requestOf(now), requestOf(before));
}
