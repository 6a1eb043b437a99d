import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { podTrouble } from './pod-trouble.ts';

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
describe('why a pod does not run', () => {
  const table: [string, Pod, string | undefined][] = [
    ['it runs', container({ running: {} }), undefined],
    ['it is being made', waiting('ContainerCreating'), undefined],
    ['its command ended well', container({ terminated: { exitCode: 0 } }), undefined],
    [
      'no such image',
      waiting(
        'ErrImagePull',
        'failed to resolve reference "docker.io/library/shop:1": docker.io/library/shop:1: not found',
      ),
      pull('there is no such image: see to its name and its tag (failed to resolve'),
    ],
    [
      'the registry refuses',
      waiting(
        'ImagePullBackOff',
        'failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
      ),
      pull(
        "its registry refuses: see to its name, and name a Secret with credentials in the repository's registrySecrets (",
      ),
    ],
    [
      'as Docker Hub hides private images',
      waiting(
        'ErrImagePull',
        'pull access denied, repository does not exist or may require authorization: authorization failed',
      ),
      pull('its registry refuses'),
    ],
    [
      'too many pulls',
      waiting('ErrImagePull', '429 Too Many Requests'),
      pull('its registry lets nobody pull more for now'),
    ],
    [
      'no such registry',
      waiting('ErrImagePull', 'dial tcp: lookup nowhere.example: no such host'),
      pull('its registry does not answer'),
    ],
    [
      'another platform',
      waiting('ErrImagePull', 'no match for platform in manifest'),
      pull("the image is not there for the nodes' platform"),
    ],
    [
      'a full disk',
      waiting('ErrImagePull', 'write /var/lib: no space left on device'),
      pull("the node's disk is full"),
    ],
    ['nothing that is known', waiting('ImagePullBackOff', 'hm'), pull('see to its name and its registry (hm)')],
    [
      'no name of an image',
      waiting('InvalidImageName', 'couldn\'t parse image name "shop:"'),
      'its image shop:1 has no valid name: mend it (couldn\'t parse image name "shop:")',
    ],
    [
      'it cannot be set up',
      waiting('CreateContainerConfigError', 'secret "x" not found'),
      'it cannot be set up (CreateContainerConfigError): secret "x" not found',
    ],
    [
      'its command is not there',
      waiting('RunContainerError', 'exec: "serve": executable file not found in $PATH'),
      'it cannot be started: see to its command and its image (exec: "serve": executable file not found in $PATH)',
    ],
    [
      'nor at the next try',
      crashing({ exitCode: 128, reason: 'StartError', message: 'exec: "serve": executable file not found in $PATH' }),
      'it ends and is started again: it cannot be started: see to its command and its image (exec: "serve"',
    ],
    ['it crashes', crashing({ exitCode: 3, message: 'a\nb' }), 'it ends and is started again: exit code 3: a\nb'],
    [
      'it crashes, and is just being tried again',
      container({ running: {} }, { ready: false, lastState: { terminated: { exitCode: 3 } } }),
      'it runs, but is not ready: it has just started; before, it ends and is started again: exit code 3',
    ],
    [
      'it ends, but should not',
      crashing({ exitCode: 0, reason: 'Completed' }),
      'it ends (exit code 0) and is started again: let it run on, or, if it is to end, say so (restart: "no")',
    ],
    [
      'it needs more memory',
      crashing({ exitCode: 137, reason: 'OOMKilled' }, { resources: { limits: { memory: '64Mi' } } }),
      'it ends and is started again: it ran out of memory and was killed: raise deploy.resources.limits.memory (now 64Mi)',
    ],
    [
      'it is about to be started again',
      container({ terminated: { exitCode: 3, message: 'oops' } }, {}, {}, 'Always'),
      'it ends and is started again: exit code 3: oops',
    ],
    [
      'it was killed, and nobody says why',
      crashing({ exitCode: 137, reason: 'Error' }, { resources: { limits: { memory: '64Mi' } } }),
      'it was killed, as happens when it runs out of memory: raise deploy.resources.limits.memory (now 64Mi)',
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
      'it was ended and started again, for its health check (GET /health on port 80) did not succeed in time',
    ],
    [
      'nothing listens',
      unready({ readinessProbe: { tcpSocket: { port: 80 } } }),
      'it runs, but is not ready: nothing listens on its port 80: let it listen there, on all addresses (0.0.0.0), or mend its ports',
    ],
    ['its command failed', container({ terminated: { exitCode: 1, message: 'oops' } }), 'exit code 1: oops'],
    [
      'no room',
      unscheduled(
        '0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/2 nodes are available.',
      ),
      'no node has enough cpu and memory left for it: reserve less (deploy.resources.reservations), end other environments, or have an administrator add nodes (0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory)',
    ],
    [
      'no storage class',
      unscheduled('0/1 nodes are available: storageclass.storage.k8s.io "fast" not found. preemption: none.'),
      'there is no storage class fast for its volume: name another one in x-coppice.class, or have an administrator make it',
    ],
    [
      'a volume that nobody binds',
      unscheduled('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: none.'),
      'no node takes it because of its volume: have an administrator see to the storage (0/1 nodes are available: pod has unbound',
    ],
    [
      'another platform',
      unscheduled("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."),
      'no node takes it: the cluster may have none of its platform',
    ],
    ['another reason', unscheduled('0/1 nodes'), 'no node takes it: 0/1 nodes'],
    [
      'its node put it out',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'disk is full' }),
      'Evicted: disk is full',
    ],
  ];
  test.each(table)('%s', (_what, given, expected) => {
    expect(podTrouble(given)).toEqual(expected === undefined ? undefined : expect.stringContaining(expected));
  });
});

test('of a long log, the last lines', () => {
  const message = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
  expect(podTrouble(container({ terminated: { exitCode: 1, message } }))).toBe(
    'exit code 1: line 95\nline 96\nline 97\nline 98\nline 99',
  );
});
