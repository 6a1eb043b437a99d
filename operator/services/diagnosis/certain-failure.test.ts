import { expect, test } from '@jest/globals';
import type { Deployment, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { type Awaited, outlookOf } from './certain-failure.ts';

/** Returns the time in seconds after the start of the rollout. */
const at = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
const since = at(0);

function pod(status: object, created = 1): Pod {
  return {
    metadata: { name: 'p', creationTimestamp: at(created).toISOString() },
    status: { startTime: at(created + 1).toISOString(), containerStatuses: [{ restartCount: 0, ...status }] },
  } as unknown as Pod;
}
const waiting = (reason: string, message = '', more: object = {}) =>
  pod({ state: { waiting: { reason, message } }, ...more });
const pulling = (message: string) => waiting('ImagePullBackOff', message);
const unstartable = (message: string, restartCount: number) =>
  pod({
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { reason: 'StartError', exitCode: 128, message } },
    restartCount,
  });
const crashing = (pause: string, ended = 10, created = 1) =>
  pod(
    {
      state: { waiting: { reason: 'CrashLoopBackOff', message: `back-off ${pause} restarting failed container=web` } },
      lastState: { terminated: { exitCode: 1, finishedAt: at(ended).toISOString() } },
    },
    created,
  );
const refused = (message: string, changed = 5) =>
  ({
    status: {
      conditions: [{ type: 'ReplicaFailure', status: 'True', message, lastTransitionTime: at(changed).toISOString() }],
    },
  }) as unknown as Deployment;
const claim = (phase: string) => ({ metadata: { name: 'volume-db' }, status: { phase } }) as PersistentVolumeClaim;
const outlook = (given: Partial<Awaited>) => outlookOf({ since, pods: [], claims: [], ...given });
const noCommand = 'exec: "serve": executable file not found in $PATH';

/** The messages are those of Kubernetes 1.36 with containerd 2. */
test.each<[string, Partial<Awaited>, number]>([
  ['a name that no image can have', { pods: [waiting('InvalidImageName')] }, 2],
  ['an image that is not to be pulled', { pods: [waiting('ErrImageNeverPull')] }, 2],
  ['a missing image, after three tries', { pods: [pulling('docker.io/library/shop:1: not found')] }, 47],
  ['one that the registry does not know', { pods: [pulling('manifest unknown: manifest unknown')] }, 47],
  [
    'one that Docker Hub does not know',
    { pods: [pulling('pull access denied, repository does not exist or may require authorization')] },
    47,
  ],
  ['one for another platform', { pods: [pulling('no match for platform in manifest: not found')] }, 47],
  ['a Secret that is never created', { pods: [waiting('CreateContainerConfigError', 'secret "x" not found')] }, 62],
  [
    'a key that is never created',
    { pods: [waiting('CreateContainerConfigError', "couldn't find key a in Secret env/x")] },
    62,
  ],
  ['a command that the image does not have', { pods: [unstartable(noCommand, 2)] }, 2],
  ['a volume that is lost', { claims: [claim('Lost')] }, 0],
  [
    'a limit that the service is above',
    { deployment: refused('pods "x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi') },
    15,
  ],
  [
    'a pod that Pod Security forbids',
    { deployment: refused('violates PodSecurity "baseline:latest": host ports') },
    15,
  ],
  [
    'a pod that Pod Security forbade before',
    { deployment: refused('violates PodSecurity "baseline:latest": host ports', -60) },
    10,
  ],
  ['the first of several', { pods: [pulling('not found'), waiting('InvalidImageName')] }, 2],
])('treats %s as certain', (_, given, seconds) => {
  expect(outlook(given)).toEqual({ failsAt: at(seconds), retriesAt: undefined });
});

test.each<[string, Partial<Awaited>]>([
  ['nothing', {}],
  ['a pod that was just created', { pods: [waiting('ContainerCreating')] }],
  ['a registry that does not answer', { pods: [pulling('dial tcp: lookup nowhere.example: no such host')] }],
  ['a registry that refuses', { pods: [pulling('unexpected status: 401 Unauthorized')] }],
  ['a registry that refuses, and says not found', { pods: [pulling('403 Forbidden: token not found')] }],
  ['a registry that limits pulls', { pods: [pulling('429 Too Many Requests')] }],
  ['a registry that fails', { pods: [pulling('500 Internal Server Error: blob not found')] }],
  ['a pod of before the rollout', { pods: [pod({ state: { waiting: { reason: 'InvalidImageName' } } }, -10)] }],
  ['another failure to set up', { pods: [waiting('CreateContainerConfigError', 'failed to prepare subPath')] }],
  ['a failure to create', { pods: [waiting('CreateContainerError', 'context deadline exceeded')] }],
  ['a command that was not found once', { pods: [unstartable(noCommand, 1)] }],
  ['a command that may be written to a volume', { pods: [unstartable(noCommand, 5)], claims: [claim('Bound')] }],
  [
    'a command that was found in the end',
    {
      pods: [
        pod({
          state: { running: { startedAt: at(20).toISOString() } },
          lastState: { terminated: { reason: 'StartError', exitCode: 128, message: noCommand } },
          restartCount: 2,
        }),
      ],
    },
  ],
  ['a failure to start of another kind', { pods: [unstartable('resource temporarily unavailable', 5)] }],
  ['a crash', { pods: [pod({ state: { terminated: { reason: 'Error', exitCode: 1 } }, restartCount: 9 })] }],
  [
    'a full quota',
    { deployment: refused('exceeded quota: environment, requested: pods=1, used: pods=5, limited: pods=5') },
  ],
  ['a volume that does not exist yet', { claims: [claim('Pending')] }],
])('does not treat %s as certain', (_, given) => {
  expect(outlook(given)).toEqual({ failsAt: undefined, retriesAt: undefined });
});

test.each<[string, Pod[], Date | undefined]>([
  ['after 20 s', [crashing('20s')], at(30)],
  ['after 1 min 20 s', [crashing('1m20s')], at(90)],
  ['after 5 min', [crashing('5m0s')], at(310)],
  ['the last of several', [crashing('20s'), crashing('40s', 20)], at(60)],
  ['not one of before the rollout', [crashing('5m0s', 10, -100)], undefined],
])('restarts a container that crashes %s', (_, pods, expected) => {
  expect(outlook({ pods })).toEqual({ failsAt: undefined, retriesAt: expected });
});
