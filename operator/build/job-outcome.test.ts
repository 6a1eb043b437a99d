import { expect, test } from '@jest/globals';
import type { Job, Pod } from '../../kubernetes/resource-type.ts';
import { buildFailure, isFailed, isFinished } from './job-outcome.ts';

function job(type?: string, reason?: string): Job {
  const conditions = type === undefined ? [] : [{ type, status: 'True', reason, message: 'words of the controller' }];
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'build-1' }, status: { conditions } };
}

function pod(name: string, terminated: object): Pod {
  const status = { name, state: { terminated }, image: '', imageID: '', ready: false, restartCount: 0 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    status: name === 'clone' ? { initContainerStatuses: [status] } : { containerStatuses: [status] },
  } as Pod;
}

test.each([
  [job(), false, false],
  [job('FailureTarget'), false, false],
  [job('Complete'), true, false],
  [job('Failed'), true, true],
])('%j', (given, finished, failed) => {
  expect([isFinished(given), isFailed(given)]).toEqual([finished, failed]);
});

test.each([
  ['build-web', { exitCode: 1, message: 'a\nb\n' }, 'the build of service web failed (exit code 1):\na\nb'],
  ['clone', { exitCode: 128 }, 'the clone failed (exit code 128)'],
  ['build-web', { exitCode: 137, reason: 'OOMKilled' }, 'the build of service web failed (it ran out of memory)'],
])('%s %j', (name, terminated, words) => {
  expect(buildFailure(job('Failed'), pod(name, terminated), 60)).toBe(words);
});

test('a build that took too long', () => {
  expect(buildFailure(job('Failed', 'DeadlineExceeded'), undefined, 60)).toMatch(/longer than 60 s/);
});

test('a pod that is gone', () => {
  expect(buildFailure(job('Failed'), undefined, 60)).toMatch(/words of the controller/);
});
