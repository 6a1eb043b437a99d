import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { podDiagnosis } from './pod-diagnosis.ts';

function pod(status: object, spec: object = {}, restartPolicy = 'Never'): Pod {
  const containers = [{ name: 'c', image: 'shop:1', ...spec }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers, restartPolicy }, status };
}

const container = (state: object, more: object = {}, spec: object = {}, restartPolicy = 'Never') =>
  pod(
    { containerStatuses: [{ name: 'c', image: 'shop:1', ready: true, state, lastState: {}, ...more }] },
    spec,
    restartPolicy,
  );
const waiting = (reason: string, message?: string) => container({ waiting: { reason, message } });
const crashing = (terminated: object, spec: object = {}, more: object = {}) =>
  container({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated }, ...more }, spec);
const unready = (spec: object) => container({ running: {} }, { ready: false }, spec);
const unscheduled = (message: string) => pod({ conditions: [{ type: 'PodScheduled', status: 'False', message }] });

const httpCheck = { httpGet: { path: '/health', port: 80 } };
const pull = (cause: string) => `its image shop:1 cannot be pulled: ${cause}`;

/** The messages are those of Kubernetes 1.36 with containerd 2. */
describe('the reason why a pod does not run', () => {
  const table: [string, Pod, string | undefined][] = [
    ['it runs', container({ running: {} }), undefined],
    ['it is being made', waiting('ContainerCreating'), undefined],
    [
      'it is being made again after a crash',
      container({ waiting: { reason: 'ContainerCreating' } }, { lastState: { terminated: { exitCode: 3 } } }),
      'it exits and is restarted: exit code 3',
    ],
    ['its command ended well', container({ terminated: { exitCode: 0 } }), undefined],
    [
      'no such image',
      waiting(
        'ErrImagePull',
        'failed to resolve reference "docker.io/library/shop:1": docker.io/library/shop:1: not found',
      ),
      pull('the image does not exist. Check its name and its tag (failed to resolve'),
    ],
    [
      'the registry refuses',
      waiting(
        'ImagePullBackOff',
        'failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
      ),
      pull(
        "its registry denies access. Check its name, and add a Secret with credentials to the repository's registrySecrets (",
      ),
    ],
    [
      'as Docker Hub hides private images',
      waiting(
        'ErrImagePull',
        'pull access denied, repository does not exist or may require authorization: authorization failed',
      ),
      pull('its registry denies access'),
    ],
    ['too many pulls', waiting('ErrImagePull', '429 Too Many Requests'), pull('its registry limits pulls')],
    [
      'no such registry',
      waiting('ErrImagePull', 'dial tcp: lookup nowhere.example: no such host'),
      pull('its registry does not respond'),
    ],
    [
      'a volume that the scheduler does not know yet',
      unscheduled('0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: none.'),
      'its volume is being created (0/1 nodes are available: persistentvolumeclaim "data" not found)',
    ],
    [
      'another platform',
      waiting('ErrImagePull', 'no match for platform in manifest'),
      pull("the image does not exist for the nodes' platform"),
    ],
    [
      'a full disk',
      waiting('ErrImagePull', 'write /var/lib: no space left on device'),
      pull("the node's disk is full"),
    ],
    ['nothing that is known', waiting('ImagePullBackOff', 'hm'), pull('check its name and its registry (hm)')],
    [
      'no name of an image',
      waiting('InvalidImageName', 'couldn\'t parse image name "shop:"'),
      'its image shop:1 has an invalid name. Correct it (couldn\'t parse image name "shop:")',
    ],
    [
      'it cannot be set up',
      waiting('CreateContainerConfigError', 'secret "x" not found'),
      'it cannot be set up. Check what it mounts and its user (CreateContainerConfigError: secret "x" not found)',
    ],
    [
      'its command is not there',
      waiting('RunContainerError', 'exec: "serve": executable file not found in $PATH'),
      'it cannot be started. Check its command and its image (exec: "serve": executable file not found in $PATH)',
    ],
    [
      'nor at the next try',
      crashing({ exitCode: 128, reason: 'StartError', message: 'exec: "serve": executable file not found in $PATH' }),
      'it exits and is restarted: it cannot be started. Check its command and its image (exec: "serve"',
    ],
    [
      'it crashes',
      crashing({ exitCode: 3, message: 'a\nb' }),
      'it exits and is restarted: exit code 3; its last lines:\na\nb',
    ],
    [
      'it crashes with an error report, which comes first',
      crashing({ exitCode: 1, message: 'starting\nError: no file\n    at main' }),
      'it exits and is restarted: exit code 1: Error: no file\nIts last lines:\nstarting\nError: no file\n    at main',
    ],
    [
      'it crashes, and is just being tried again',
      container({ running: {} }, { ready: false, lastState: { terminated: { exitCode: 3 } } }),
      'it runs, but is not ready: it has just started; before, it exits and is restarted: exit code 3',
    ],
    [
      'it ends, but should not',
      crashing({ exitCode: 0, reason: 'Completed' }),
      'it exits with code 0 and is restarted. Keep it running or, if it is to exit, set restart: "no"',
    ],
    [
      'it needs more memory',
      crashing({ exitCode: 137, reason: 'OOMKilled' }, { resources: { limits: { memory: '64Mi' } } }),
      'it exits and is restarted: it ran out of memory and was killed. Raise deploy.resources.limits.memory (now 64Mi)',
    ],
    [
      'it is about to be started again',
      container({ terminated: { exitCode: 3, message: 'oops' } }, {}, {}, 'Always'),
      'it exits and is restarted: exit code 3: oops',
    ],
    [
      'it was killed, and nobody says why',
      crashing({ exitCode: 137, reason: 'Error' }, { resources: { limits: { memory: '64Mi' } } }),
      'it exits and is restarted: it was killed, probably because it ran out of memory. Raise deploy.resources.limits.memory (now 64Mi)',
    ],
    [
      'its health check has not succeeded yet',
      unready({ startupProbe: httpCheck, readinessProbe: httpCheck }),
      'it runs, but is not ready: its health check (GET /health on port 80) has not succeeded yet',
    ],
    [
      'nor does the command of one',
      unready({ readinessProbe: { exec: { command: ['node', 'check.mjs'] } } }),
      'it runs, but is not ready: its health check (node check.mjs) has not succeeded yet',
    ],
    [
      'its health check never succeeds',
      crashing({ exitCode: 143, reason: 'Error' }, { startupProbe: httpCheck }, { started: false }),
      'it was restarted because its health check (GET /health on port 80) did not succeed in time',
    ],
    [
      'nothing listens',
      unready({ readinessProbe: { tcpSocket: { port: 80 } } }),
      'it runs, but is not ready: nothing listens on its port 80. Listen there on all addresses (0.0.0.0 and ::), or correct its ports',
    ],
    ['its command failed', container({ terminated: { exitCode: 1, message: 'oops' } }), 'exit code 1: oops'],
    [
      'no room',
      unscheduled(
        '0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/2 nodes are available.',
      ),
      'no node has enough cpu and memory left for it. Reserve less (deploy.resources.reservations), delete other environments, or ask an administrator to add nodes (0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory)',
    ],
    [
      'no storage class',
      unscheduled('0/1 nodes are available: storageclass.storage.k8s.io "fast" not found. preemption: none.'),
      'there is no storage class fast for its volume. Set another one in x-coppice.class, or ask an administrator to create it',
    ],
    [
      'a volume that nobody binds',
      unscheduled('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: none.'),
      'no node can run it because of its volume. Ask an administrator to check the storage (0/1 nodes are available: pod has unbound',
    ],
    [
      'another platform',
      unscheduled("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."),
      'no node can run it: the cluster may have none of its platform',
    ],
    [
      'another reason',
      unscheduled('0/1 nodes'),
      'no node can run it. Ask an administrator to check the nodes (0/1 nodes)',
    ],
    [
      'its node put it out',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'disk is full' }),
      'Evicted: disk is full',
    ],
    [
      'it filled the disk, so that its container was killed',
      pod({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Container web exceeded its local ephemeral storage limit "4Gi". ',
        containerStatuses: [{ name: 'web', state: { terminated: { exitCode: 137 } } }],
      }),
      'it wrote too much outside of volumes and was evicted. Write less, or to a volume (Container web exceeded',
    ],
  ];
  test.each(table)('%s', (_what, given, expected) => {
    expect(podDiagnosis(given)).toEqual(expected === undefined ? undefined : expect.stringContaining(expected));
  });
});

test('includes the last lines of a long log', () => {
  const message = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
  expect(podDiagnosis(container({ terminated: { exitCode: 1, message } }))).toBe(
    `exit code 1; its last lines:\n${message.split('\n').slice(-20).join('\n')}`,
  );
});

describe('a health check that never succeeds', () => {
  const probe = { httpGet: { path: '/health', port: 80 }, periodSeconds: 1, failureThreshold: 30 };
  const at = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000).toISOString();
  /** Returns a container whose last run took from 100 s to `end`, in a pod that was not ready since `unreadySince`. */
  const ended = (terminated: object, end: number, unreadySince: number): Pod => {
    const last = { startedAt: at(100), finishedAt: at(end), ...terminated };
    const made = crashing(last, { startupProbe: probe, readinessProbe: probe }, { started: false, ready: false });
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: at(unreadySince) }];
    return {
      ...made,
      spec: { ...made.spec, containers: made.spec?.containers ?? [], restartPolicy: 'Always' },
      status: { ...made.status, conditions },
    };
  };
  const words = 'it was restarted because its health check (GET /health on port 80) did not succeed in time';
  const remedy = 'Correct it, or raise its start_period';

  test.each([
    ['a program that ends with 0 by SIGTERM', { exitCode: 0, reason: 'Completed' }, 131, 0, words],
    ['one that ends with 143', { exitCode: 143, reason: 'Error' }, 131, 0, words],
    [
      'one that ends with 1',
      { exitCode: 1, reason: 'Error', message: 'shut down' },
      131,
      0,
      `${words}. ${remedy}; its last lines: shut down`,
    ],
    ['one that does not end by SIGTERM', { exitCode: 137, reason: 'Error' }, 160, 0, words],
    [
      'one that ends by itself before',
      { exitCode: 0, reason: 'Completed' },
      110,
      0,
      'it exits with code 0 and is restarted',
    ],
    ['one that crashes before', { exitCode: 137, reason: 'Error' }, 110, 0, 'it exits and is restarted: it was killed'],
    [
      'one that was ready, and ended',
      { exitCode: 0, reason: 'Completed' },
      500,
      499,
      'it exits with code 0 and is restarted',
    ],
    [
      'one that ran out of memory',
      { exitCode: 137, reason: 'OOMKilled' },
      131,
      0,
      'it exits and is restarted: it ran out of memory',
    ],
  ])('%s', (_what, terminated, end, unreadySince, expected) => {
    expect(podDiagnosis(ended(terminated, end, unreadySince))).toMatch(
      new RegExp(`^${expected.replaceAll(/[()]/g, '\\$&')}`),
    );
  });

  test('includes the output', () => {
    const output = 'HTTP probe failed with statuscode: 503';
    expect(podDiagnosis(ended({ exitCode: 0 }, 131, 0), { checkOutput: output })).toBe(
      `${words}: ${output}. ${remedy}`,
    );
    expect(podDiagnosis(unready({ startupProbe: httpCheck }), { checkOutput: output })).toBe(
      `it runs, but is not ready: its health check (GET /health on port 80) has not succeeded yet: ${output}`,
    );
    const later = container({ running: {} }, { ready: false, started: true }, { startupProbe: httpCheck });
    expect(podDiagnosis(later, { checkOutput: output })).toBe(
      `it runs, but is not ready: its health check (GET /health on port 80) fails: ${output}`,
    );
  });

  test('includes the command, shortened if it is long', () => {
    const command = ['curl', ...Array.from({ length: 100 }, (_, index) => `--header=${index}`)];
    expect(podDiagnosis(unready({ readinessProbe: { exec: { command } } }))).toMatch(
      /\(curl --header=0 .{200,290} --header=\d+…\)/,
    );
  });
});

describe('a service between two crashes, which Kubernetes reports as ready', () => {
  const startedAt = '2026-01-01T00:00:00Z';
  const crashed = { running: { startedAt } };
  const before = { restartCount: 2, lastState: { terminated: { exitCode: 3, message: 'no such table' } } };
  const after = (seconds: number) => ({ now: new Date(Date.parse(startedAt) + seconds * 1000) });
  const of = (pod: Pod, service = 'c'): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { 'coppice.dev/service': service } },
  });

  test.each<[string, Pod, number, string | undefined]>([
    ['has not recovered', of(container(crashed, before)), 9, 'it exits and is restarted: exit code 3: no such table'],
    ['has recovered after 10 s', of(container(crashed, before)), 10, undefined],
    ['was never restarted', of(container(crashed, { restartCount: 0 })), 1, undefined],
    ['is ready by its own probe', of(container(crashed, before, { readinessProbe: httpCheck })), 1, undefined],
    ['runs beside the container that crashed', of(container(crashed, before), 'web'), 1, undefined],
    [
      'was lost by its node',
      of(container(crashed, { restartCount: 1 })),
      1,
      'it runs, but is not ready: it has just started',
    ],
  ])('%s', (_what, observed, seconds, expected) => {
    expect(podDiagnosis(observed, after(seconds))).toBe(expected);
  });
});
