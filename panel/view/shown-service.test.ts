import { expect, test } from '@jest/globals';
import { shownService, startingSince, type ServiceSurroundings } from './shown-service.ts';

const message = 'the process exits with code 1';
const crashed = { reason: 'Error', exitCode: 1, finishedAt: 1 };
const surroundings: ServiceSurroundings = {
  ...{ status: 'built', isAsleep: false, isRemoving: false, startingSince: undefined, now: 1000, ready: new Set() },
};
const building = { status: 'building' } as const;
const starting = { ...building, startingSince: 990 };
const late = { ...building, startingSince: 930 };

test.each([
  [{ ready: true }, {}, 'built ready'],
  [{ ready: true, job: true as const }, {}, 'built completed'],
  [{ ready: true, message }, { isAsleep: true }, 'built ready'],
  [{}, { isAsleep: true }, 'asleep asleep'],
  [{}, { ...building, isAsleep: true }, 'asleep asleep'],
  [{ message }, { isAsleep: true }, 'failed not ready'],
  [{}, {}, 'failed not ready'],
  [{ ready: true }, { ...building, isRemoving: true }, 'deleting being deleted'],
  [{}, building, 'created waiting'],
  [{ message }, building, 'created waiting'],
  [{ message }, starting, 'building starting'],
  [{ message, restarts: 1, lastTermination: crashed }, starting, 'failed not ready'],
  [{ message, lastTermination: crashed }, starting, 'building starting'],
  [{ message }, late, 'failed not ready'],
  [{}, late, 'building starting'],
  [{ message: 'waits for db (healthy)', dependsOn: ['db'] }, late, 'created waiting'],
  [{ message, dependsOn: ['db'] }, { ...late, ready: new Set(['db']) }, 'failed not ready'],
])('%j in %j is shown as %s', (service, around, shown) => {
  const { state, word } = shownService({ ready: false, restarts: 0, ...service }, { ...surroundings, ...around });
  expect(`${state} ${word}`).toBe(shown);
});

test('services start with the rollout of a build, or after a sleep', () => {
  const stages = [
    { name: 'build' as const, startedAt: 5, duration: 2 },
    { name: 'rollout' as const, startedAt: 7 },
  ];
  const ready = (reason: string) => [{ type: 'Ready', status: 'False', reason, message: '', since: 3 }];
  const conditions = ready('Building');
  expect(startingSince({ build: { result: 'running', stages }, conditions })).toBe(7);
  expect(startingSince({ build: { result: 'running', stages: stages.slice(0, 1) }, conditions })).toBeUndefined();
  expect(startingSince({ build: { result: 'failed', stages }, conditions })).toBeUndefined();
  expect(startingSince({ build: { result: 'succeeded', stages }, conditions: ready('Waking') })).toBe(3);
  expect(startingSince({ removing: true, conditions: ready('Waking') })).toBeUndefined();
});
