import { expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus, FinishedBuild } from '../../../../crds/environment-build.ts';
import { requestValue } from '../../../../crds/requests.ts';
import { sampleActivation } from '../../../../crds/testing/activation.ts';
import { newestBuildRequest, plannedFields, triggerOf, whatMoved, withFinished } from './build-status.ts';

const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n));
const value = (n: number, id = 'x') => requestValue(second(n), id);
const activation = (reason: 'Spec' | 'CreateRequest' | 'Schedule' | 'RebuildRequest', rebuild = false) =>
  sampleActivation({ since: second(10).toISOString(), reason, buildPending: true, ...(rebuild && { rebuild }) });
const built = (n: number, request?: string): BuildStatus => ({
  ...{ number: 1, result: 'succeeded', startedAt: second(n).toISOString() },
  request,
});

test.each<[string, string, EnvironmentStatus, boolean?]>([
  ['contents by the spec', 'create', { activation: activation('Spec') }],
  [
    'a PUT',
    'create',
    { activation: activation('CreateRequest'), handledRequests: { create: value(9), build: value(9) } },
  ],
  [
    'a build asked for after a PUT without one',
    'build',
    { activation: activation('CreateRequest'), handledRequests: { create: value(9), build: value(12) } },
  ],
  [
    'a requested build although the spec disables the first one',
    'build',
    { activation: activation('Spec'), handledRequests: { build: value(12) } },
    false,
  ],
  [
    'a second request',
    'build',
    { activation: activation('Spec'), build: built(11, value(9)), handledRequests: { build: value(12) } },
  ],
  [
    'a new commit',
    'commit',
    { activation: activation('Spec'), build: built(11), handledRequests: { build: value(12, 'sync-abc') } },
  ],
  ['a rebuild request', 'rebuild', { activation: activation('RebuildRequest', true), build: built(5) }],
  ['the schedule', 'schedule', { activation: activation('Schedule', true), build: built(5) }],
  [
    'contents that were lost',
    'recovery',
    { activation: activation('Spec'), build: built(11, value(9)), handledRequests: { build: value(9) } },
  ],
  [
    'contents that were lost and were never asked for',
    'recovery',
    { activation: activation('Spec'), build: built(11) },
  ],
])('returns what triggered a build: %s → %s', (_what, trigger, status, buildOnCreate = true) => {
  expect(triggerOf({ buildOnCreate }, status)).toBe(trigger);
});

test.each([
  [undefined, undefined, undefined],
  [value(1), undefined, value(1)],
  [undefined, value(2), value(2)],
  [value(1), value(2), value(2)],
  [value(3), value(2), value(3)],
])('returns the newest request of build %s and rebuild %s: %s', (build, rebuild, newest) => {
  expect(newestBuildRequest({ build, rebuild })).toBe(newest);
});

test('keeps the ten newest builds, each once', () => {
  let builds: FinishedBuild[] | undefined;
  for (let number = 1; number <= 12; number++) {
    const build: BuildStatus = { ...built(number), number, commit: `c${number}`, message: 'left out', sizeBytes: 9 };
    builds = withFinished(builds, build, second(number + 1).toISOString());
  }
  expect(builds?.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(builds?.[0]).toEqual({
    ...{ number: 12, result: 'succeeded', trigger: undefined, request: undefined, commit: 'c12' },
    ...{ startedAt: second(12).toISOString(), finishedAt: second(13).toISOString(), sizeBytes: 9 },
  });
  expect(withFinished(builds, { ...built(1), number: 12 }, second(20).toISOString())).toHaveLength(10);
});

test.each([
  ['the ref', { commit: 'c2' }, 'the ref has moved to c2'],
  [
    'an included repository',
    { commit: 'c1', repositories: [included('b2')] },
    'the included repository backend has moved to b2',
  ],
  [
    'neither',
    { commit: 'c1', repositories: [included('b1')] },
    'variables, settings of the repository or overrides of the environment have changed',
  ],
])('reports that %s has moved', (_what, newest, expected) => {
  expect(whatMoved({ commit: 'c1', repositories: [included('b1')] }, newest)).toBe(expected);
});

test('records the commits of included repositories, and nothing without any', () => {
  const planned = {
    id: 'v',
    commit: 'c1',
    repositories: [{ ...included('b1'), branches: ['main'], services: ['api'] }],
  };
  expect(plannedFields(planned)).toMatchObject({ commit: 'c1', repositories: [included('b1')] });
  expect(plannedFields({ id: 'v', commit: 'c1' })).not.toHaveProperty('repositories');
});

function included(commit: string) {
  return { name: 'backend', branch: 'main', commit };
}
