import { expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Deployment, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { Stalled } from '../../shared/errors.ts';
import { explainRefusal, refusedForGood } from './refusal.ts';
import { lastTermination, restartsOf, serviceDiagnosis } from './service-diagnosis.ts';

const quota =
  'pods "api-1" is forbidden: exceeded quota: environment, requested: limits.memory=1Gi, used: limits.memory=2Gi, limited: limits.memory=2Gi';
const pod = (creationTimestamp: string, exitCode?: number, restartCount = 0): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', creationTimestamp },
  status: {
    containerStatuses: [
      {
        name: 'c',
        image: '',
        imageID: '',
        ready: exitCode === undefined,
        restartCount,
        ...(exitCode !== undefined && { state: { terminated: { exitCode } } }),
      },
    ],
  },
});
const refused = {
  status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: quota }] },
} as unknown as Deployment;
const pending = {
  metadata: { name: 'volume-db' },
  spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } } },
  status: { phase: 'Pending' },
} as unknown as PersistentVolumeClaim;

const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found';
const unbound: Pod = {
  ...pod('1'),
  status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
};

test.each([
  ['the newest pod first', { pods: [pod('1', 1), pod('2', 2)], claims: [] }, 'exit code 2'],
  ['the message of admission', { pods: [], deployment: refused, claims: [] }, explainRefusal(quota)],
  [
    'a missing volume',
    { pods: [pod('1')], claims: [pending] },
    'its volume db does not exist yet (Pending, 5Gi, storage class fast). Check its storage class (x-coppice.class), or ask an administrator to check it',
  ],
  [
    "a volume that nothing provisions, despite the scheduler's message",
    { pods: [unbound], claims: [pending] },
    'its volume db does not exist yet (Pending, 5Gi, storage class fast). Check its storage class (x-coppice.class), or ask an administrator to check it',
  ],
  [
    'a volume that is lost',
    { pods: [pod('1')], claims: [{ ...pending, status: { phase: 'Lost' } }] },
    'its volume db is lost. A rebuild creates a new one',
  ],
  ['nothing, before a pod exists', { pods: [], claims: [pending] }, undefined],
])('%s', (_what, observed, expected) => {
  expect(serviceDiagnosis({ ...observed, now: new Date('2026-01-01T00:00:00Z') })).toBe(expected);
});

test.each([
  [
    quota,
    "the environment's quota is used up (requested limits.memory=1Gi, of limits.memory=2Gi). Request less, or ask an administrator to raise it",
  ],
  [
    'pods "x" is forbidden: violates PodSecurity "baseline:latest": forbidden sysctls (kernel.msgmax)',
    'an environment is not permitted to do this: forbidden sysctls (kernel.msgmax). Remove it from the service file, or ask an administrator',
  ],
  [
    'pods "x" is forbidden: [maximum memory usage per Container is 1Gi, but limit is 2Gi, maximum cpu usage per Container is 1, but limit is 2]',
    'the request exceeds the limit of an environment (maximum memory usage per Container is 1Gi, but limit is 2Gi, maximum cpu usage per Container is 1, but limit is 2). Request less, or ask an administrator to raise it',
  ],
  [
    'persistentvolumeclaims "volume-db" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi',
    'the request exceeds the limit of an environment (maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi). Request less, or ask an administrator to raise it',
  ],
  ['something else', 'something else'],
])('%s', (message, expected) => {
  expect(explainRefusal(message)).toBe(expected);
});

test('requires the user to act when a quota is used up, but not after other refusals', () => {
  const forbidden = (message: string) => new ApiError('POST', 403, 'Forbidden', message, { name: 'volume-db' });
  expect(refusedForGood(forbidden(quota))).toBeInstanceOf(Stalled);
  const limit = forbidden('x is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi');
  expect(refusedForGood(limit)).toMatchObject({ reason: 'LimitExceeded' });
  const other = forbidden('no');
  expect(refusedForGood(other)).toBe(other);
});

test('counts restarts over all pods', () => {
  expect(restartsOf([pod('1', undefined, 2), pod('2', undefined, 1)])).toBe(3);
});

test('reports the last termination of a container', () => {
  const ended = (finishedAt: string | undefined, exitCode: number, key: 'state' | 'lastState') =>
    ({
      metadata: { name: 'p' },
      status: { containerStatuses: [{ [key]: { terminated: { exitCode, reason: 'Error', finishedAt } } }] },
    }) as unknown as Pod;
  const pods = [
    ended('2026-01-01T00:00:02Z', 2, 'lastState'),
    ended('2026-01-01T00:00:03Z', 3, 'state'),
    ended(undefined, 4, 'state'),
    pod('1'),
  ];
  expect(lastTermination(pods)).toEqual({ reason: 'Error', exitCode: 3, finishedAt: '2026-01-01T00:00:03Z' });
  expect(lastTermination([pod('1')])).toBeUndefined();
});
