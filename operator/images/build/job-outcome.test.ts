import { describe, expect, test } from '@jest/globals';
import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import { NOT_CLONED } from './after-clone.ts';
import { buildFailure, failedAt, isFailed, isFinished, obstacleOf, strandedAt } from './job-outcome.ts';

function job(type?: string, reason?: string): Job {
  const conditions = type === undefined ? [] : [{ type, status: 'True', reason, message: 'words of the controller' }];
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'build-1' }, status: { conditions } };
}

function pod(states: Record<string, object>, status: object = {}, metadata: object = {}): Pod {
  const statuses = Object.entries(states).map(([name, state]) => ({ name, state, image: `${name}:1` }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    status: { containerStatuses: statuses, ...status },
  } as Pod;
}

const ended = (exitCode: number, message = '', reason?: string) => ({ terminated: { exitCode, message, reason } });
const failure = (given: Pod | undefined, reason?: string) => buildFailure(job('Failed', reason), given, 60);

test.each([
  [job(), false, false],
  [job('FailureTarget'), false, false],
  [job('Complete'), true, false],
  [job('Failed'), true, true],
])('%j', (given, finished, failed) => {
  expect([isFinished(given), isFailed(given)]).toEqual([finished, failed]);
});

const step = 'error: failed to solve: process "/bin/sh -c npm test" did not complete successfully:';

describe("a failure of the repository's own steps", () => {
  test.each<[string, Pod, RegExp]>([
    [
      'a step',
      pod({ 'build-web': ended(1, `a\n${step} exit code: 1`) }),
      /^the build of service web failed \(exit code 1\):\na\n/,
    ],
    [
      'the clone, and with it those that wait for it',
      pod({ clone: ended(128), 'build-api': ended(NOT_CLONED), 'build-web': ended(NOT_CLONED) }),
      /^the clone failed \(exit code 128\)$/,
    ],
    [
      'the clone, as an init container, which it was in former versions',
      pod({}, { initContainerStatuses: [{ name: 'clone', state: ended(128) }] }),
      /^the clone failed \(exit code 128\)$/,
    ],
    [
      'a step that prints what lost connections look like',
      pod({ 'build-web': ended(1, `error: rpc error: code = Unavailable\n${step} exit code: 1`) }),
      /exit code 1/,
    ],
    [
      'a command that names them',
      pod({
        'build-web': ended(
          1,
          'error: failed to solve: process "echo connection refused" did not complete successfully: exit code: 1',
        ),
      }),
      /exit code 1/,
    ],
    ['buildctl out of memory', pod({ 'build-web': ended(137, '', 'OOMKilled') }), /it ran out of memory/],
    [
      'a step that was killed',
      pod({ 'build-web': ended(1, `${step} exit code: 137`) }),
      /out of memory.*builder\.resources/,
    ],
    ['a signal', pod({ 'build-web': ended(1, `${step} signal: killed`) }), /out of memory/],
    [
      'a step that finds the disk full',
      pod({ 'build-web': ended(1, `dd: error writing '/x': No space left on device\n${step} exit code: 1`) }),
      /a step could not write, probably because the builder's disk is full.*builder\.cache\.size[^]*No space left/,
    ],
    [
      "more than a container's limit",
      pod({}, { reason: 'Evicted', message: 'Container build-web exceeded its local ephemeral storage limit "2Gi".' }),
      /more disk than permitted/,
    ],
    [
      'too large a workspace',
      pod({}, { reason: 'Evicted', message: 'Usage of EmptyDir volume "workspace" exceeds the limit "4Gi".' }),
      /more disk than permitted/,
    ],
    [
      'one of two, the other lost its connection',
      pod({
        'build-api': ended(1, 'error: failed to solve: Unavailable: error reading from server: EOF'),
        'build-web': ended(1, `${step} exit code: 1`),
      }),
      /service api failed[^]*service web failed/,
    ],
    [
      'a base image that is not there',
      pod({ 'build-web': ended(1, 'error: failed to solve: nope: not found') }),
      /not found/,
    ],
  ])('%s', (_what, given, words) => {
    expect(failure(given)).toEqual({ message: expect.stringMatching(words), isInfrastructure: false });
  });

  test('reports a build that took too long', () => {
    expect(failure(undefined, 'DeadlineExceeded')).toEqual({
      message: expect.stringMatching(/longer than 60 s.*builder\.deadlineSeconds/),
      isInfrastructure: false,
    });
  });
});

test('a builder that does not answer is tried again after its node may be known to be lost', () => {
  const line = 'error: failed to list workers: connection error: dial tcp 10.0.0.7:1234: i/o timeout';
  expect(failure(pod({ 'build-web': ended(1, line) }))).toMatchObject({ pauseMs: 30_000 });
});

describe('an infrastructure failure', () => {
  test.each<[string, Pod | undefined]>([
    ['a deleted pod', undefined],
    ['a pod that was deleted', pod({}, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['an eviction by the node', pod({}, { reason: 'Evicted', message: 'The node was low on resource: memory.' })],
    ['a lost node', pod({}, { reason: 'NodeLost' })],
    ['a disruption', pod({ 'build-web': ended(143) }, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] })],
    ...[
      'error: failed to solve: Unavailable: connection error: desc = "error reading from server: EOF"',
      'error: listing workers for Build: failed to list workers: Unavailable: connection error: connect: connection refused',
      'error: failed to solve: failed to push r:5000/g/r/web:t1: unexpected status from PUT request to http://r:5000/v2/: 503 Service Unavailable',
      'error: failed to solve: failed to push r/g: unexpected status: 500 Internal Server Error',
      'error: failed to solve: Canceled: context canceled',
      'error: failed to list workers: connection error: dial tcp 10.0.0.7:1234: i/o timeout',
    ].map((line): [string, Pod] => [line, pod({ 'build-web': ended(1, `#1 [internal] load\n${line}\n`) })]),
    [
      'a Git host that answers 503',
      pod({
        clone: ended(
          128,
          'error: RPC failed; HTTP 503 curl 22 The requested URL returned error: 503\nfatal: expected flush',
        ),
      }),
    ],
    [
      'a Git host that cannot serve large files',
      pod({ clone: ended(1, 'fatal: git.example.com did not respond with files of Git LFS, but with status 502') }),
    ],
    [
      'a Git host that cannot be reached',
      pod({ clone: ended(128, "fatal: unable to access 'http://x/': Could not resolve host: x") }),
    ],
  ])('%s', (_what, given) => {
    expect(failure(given)).toMatchObject({ isInfrastructure: true });
  });
});

test('retries a builder without disk space, and says what gives it more', () => {
  const last = 'error: failed to solve: ResourceExhausted: failed to prepare x: write /y.db: no space left on device';
  expect(failure(pod({ 'build-web': ended(1, last) }))).toEqual({
    message: expect.stringMatching(/disk is full.*builder\.cache\.size[^]*no space left/),
    isInfrastructure: true,
    pauseMs: 70_000,
  });
});

describe('returns when containers that wait for the clone are stranded', () => {
  const finishedAt = '2026-01-01T00:00:00Z';
  const tenLater = Date.parse('2026-01-01T00:00:10Z');
  const clone = (terminated: object) => pod({ clone: { terminated }, 'build-web': { running: {} } });
  test.each<[string, Pod | undefined, number | undefined]>([
    ['ten seconds after one that failed', clone({ exitCode: 2, finishedAt }), tenLater],
    ['not after a clone that succeeded', clone({ exitCode: 0, finishedAt }), undefined],
    ['not while the clone runs', pod({ clone: { running: {} } }), undefined],
    ['not after a clone that the kubelet has lost without a time', clone({ exitCode: 137 }), undefined],
    ['without a pod', undefined, undefined],
  ])('%s', (_what, given, expected) => {
    expect(strandedAt(given)).toBe(expected);
    expect(failedAt(job(), given, new Date(tenLater))).toBe(expected);
    expect(failedAt(job(), given, new Date(tenLater - 1))).toBeUndefined();
  });
});

describe('obstacleOf', () => {
  test.each<[Pod, string | undefined]>([
    [pod({ 'build-web': { running: {} } }), undefined],
    [pod({ clone: { waiting: { reason: 'PodInitializing' } } }), undefined],
    [
      pod({ clone: { waiting: { reason: 'ImagePullBackOff' } } }),
      'the image clone:1 cannot be pulled. Ask an administrator to check it',
    ],
    [
      pod({ 'build-web': { waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } } }),
      'CreateContainerConfigError: secret "x" not found',
    ],
    [
      pod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }),
      'no node can run the build yet: 0/1 nodes are available. If this lasts, ask an administrator to add nodes',
    ],
  ])('%#', (given, expected) => {
    expect(obstacleOf(given)).toBe(expected);
  });
});
