import { isDeepStrictEqual } from 'node:util';
import { findCondition } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import { TESTED, type TestRun, type TestsStatus } from '../../../crds/environment-tests.ts';
import { requestAnnotation, TEST_REQUEST } from '../../../crds/requests.ts';

/** What tests are run for: a build that became ready, and, where somebody asked for them again, the request. */
export type Round = Pick<TestsStatus, 'build' | 'request'>;

/** The round that an Environment is to have been through; undefined where nothing runs, or no tests are named. */
export function wantedRound({ metadata, status }: Environment): Round | undefined {
  const { deployed } = status ?? {};
  if (metadata.deletionTimestamp !== undefined || deployed?.tests === undefined) return undefined;
  // A request that is taken away is none: what it asked for was done.
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

/** Returns whether reconciling an Environment may have something to do, judged by the object alone. */
export function needsReconcile(environment: Environment): boolean {
  const round = wantedRound(environment);
  const { tests } = environment.status ?? {};
  if (!round) return environment.metadata.deletionTimestamp === undefined && isAnythingReported(environment);
  return !tests || !isOfRound(tests, round) || !isOver(tests);
}

/** Whether the status says anything of tests. */
export function isAnythingReported({ status }: Environment): boolean {
  return status?.tests !== undefined || findCondition(status?.conditions, TESTED) !== undefined;
}

/** Whether what is to be tested is another one than before: what the tests themselves write is not a reason to look. */
export function isSameRequest(now: Environment, before: Environment): boolean {
  const requestOf = (one: Environment) => [wantedRound(one), one.status?.state, one.spec.suspend];
  return isDeepStrictEqual(requestOf(now), requestOf(before));
}
