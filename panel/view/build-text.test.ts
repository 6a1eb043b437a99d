import { expect, test } from '@jest/globals';
import { afterFailure, buildSubject, startText } from './build-text.ts';

const failed = { number: 3, result: 'failed', commit: '924ac50aaa' } as const;
const rollout = { ...failed, stages: [{ name: 'rollout' as const, startedAt: 1 }] };
const service = (ready: boolean) => ({ id: '', name: 'db', restarts: 0, ready });
const former = { deployedBuild: 1, commit: '0925911bbb' };

test.each([
  [{ build: failed, ...former }, 'Build 3 (924ac50) failed; build 1 (0925911) keeps running.'],
  [{ build: failed }, 'Build 3 (924ac50) failed. No earlier build runs.'],
  [{ build: { result: 'failed' as const }, deployedBuild: 1 }, 'The build failed; build 1 keeps running.'],
  [
    { build: rollout, ...former, services: [service(true)] },
    'Build 3 (924ac50) failed while services started; they were rolled back to build 1 (0925911).',
  ],
  [
    { build: rollout, ...former, services: [service(true), service(false)] },
    'Build 3 (924ac50) failed while services started; they are being rolled back to build 1 (0925911).',
  ],
  [{ build: { ...failed, result: 'succeeded' as const }, deployedBuild: 3 }, undefined],
  [{}, undefined],
])('says what runs after %j', (environment, expected) => {
  expect(afterFailure({ services: [], ...environment })).toBe(expected);
});

test.each([
  [{ subject: 'Fix it', author: 'Ada', commit: 'a' }, 'Fix it · Ada'],
  [{ subject: 'Fix it' }, 'Fix it'],
  [{ trigger: 'build' as const }, 'started on request; its commit was not read'],
  [{ trigger: 'commit' as const, commit: 'a' }, 'started by a new commit'],
  [{}, ''],
])('describes the build %j', (build, expected) => {
  expect(buildSubject({ result: 'failed', ...build })).toBe(expected);
});

test('names why a build started', () => {
  expect(startText('schedule')).toBe('started by the schedule');
});
