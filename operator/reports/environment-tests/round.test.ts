import { expect, test } from '@jest/globals';
import type { Environment } from '../../../crds/environment.ts';
import type { TestsStatus } from '../../../crds/environment-tests.ts';
import { canStart, isSameRequest, needsReconcile, wantedRound, type Round } from './round.ts';

const time = '2026-01-01T00:00:00Z';

function environment(annotation: string | undefined, handled: Round | undefined): Environment {
  const tests: TestsStatus | undefined = handled && { ...handled, since: time, runs: [] };
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', annotations: annotation ? { 'coppice.dev/request-test': annotation } : {} },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: {
      state: 'built',
      deployed: { number: 2, result: 'succeeded', startedAt: time, tests: 1 },
      ...(tests && { tests }),
    },
  };
}

test.each<[string, string | undefined, Round | undefined, Round, boolean]>([
  ['a build that became ready', undefined, undefined, { build: 2 }, true],
  ['a build that was tested', undefined, { build: 2 }, { build: 2 }, false],
  ['a request', 'a', { build: 2 }, { build: 2, request: 'a' }, true],
  ['a request that was handled', 'a', { build: 2, request: 'a' }, { build: 2, request: 'a' }, false],
  ['another request', 'b', { build: 2, request: 'a' }, { build: 2, request: 'b' }, true],
  ['a request whose annotation was removed', undefined, { build: 2, request: 'a' }, { build: 2, request: 'a' }, false],
  ['a build after that', undefined, { build: 1, request: 'a' }, { build: 2 }, true],
])('%s', (_what, annotation, handled, round, isDue) => {
  const one = environment(annotation, handled);
  expect(wantedRound(one)).toEqual(round);
  expect(needsReconcile(one)).toBe(isDue);
});

test('can start once the services of a woken environment run', () => {
  const one = environment(undefined, undefined);
  const finishedAt = '2026-01-01T01:00:00Z';
  const withSleep = (asleep: boolean, since: string, ready: boolean): Environment => ({
    ...one,
    status: {
      ...one.status,
      deployed: { number: 2, result: 'succeeded', startedAt: time, finishedAt, tests: 1 },
      sleep: { asleep, since, reason: 'Requested' },
      services: [{ name: 'web', ready }],
    },
  });
  const later = '2026-01-01T02:00:00Z';
  const [asleep, waking, awake] = [
    withSleep(true, later, false),
    withSleep(false, later, false),
    withSleep(false, later, true),
  ];
  expect([asleep, waking, awake, withSleep(false, time, false)].map(canStart)).toEqual([false, false, true, true]);
  expect([isSameRequest(waking, asleep), isSameRequest(awake, waking)]).toEqual([true, false]);
});
