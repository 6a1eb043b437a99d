import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Node, Pod } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { LostPods } from './lost-pods.ts';

const deleted = '2026-01-01T12:00:00Z';
const at = (seconds: number) => new Date(Date.parse(deleted) + seconds * 1000);

let calls: string[];
let nodes: Map<string, Node>;
let refusal: Error | undefined;

const node = (name: string, ready: string): [string, Node] => [
  name,
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  },
];

const pod = (name: string, nodeName: string, { phase = 'Running', isDeleted = true } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'env-a', name, uid: `uid-${name}`, ...(isDeleted && { deletionTimestamp: deleted }) },
  spec: { nodeName, containers: [] },
  status: { phase },
});

beforeEach(() => {
  calls = [];
  nodes = new Map([node('here', 'True'), node('lost', 'Unknown'), node('ill', 'False')]);
  refusal = undefined;
});

async function sweep(pods: Pod[], now: Date): Promise<string[]> {
  const lost = new LostPods({
    client: {
      find: (_type, { name }) => Promise.resolve(nodes.get(name) as never),
      patchStatus: (_type, { name }, patch) => {
        calls.push(`${name} ${JSON.stringify(patch)}`);
        return refusal ? Promise.reject(refusal) : Promise.resolve({} as never);
      },
      delete: (_type, { name }, options) => {
        calls.push(`delete ${name} ${options?.uid ?? ''} ${options?.gracePeriodSeconds ?? ''}`);
        return Promise.resolve();
      },
    },
    pods: () => pods,
    now: () => now,
    logger: silentLogger,
  });
  await lost.sweep();
  return calls;
}

test('removes a pod whose deletion is overdue on a node that does not respond, and reports it as failed to its Job', async () => {
  expect(await sweep([pod('web', 'lost')], at(16))).toEqual([
    'web {"metadata":{"uid":"uid-web"},"status":{"phase":"Failed","reason":"NodeLost","message":"its node lost does not respond"}}',
    'delete web uid-web 0',
  ]);
});

test('removes a pod whose node no longer exists, and keeps the phase of one that has ended', async () => {
  expect(await sweep([pod('web', 'gone', { phase: 'Succeeded' })], at(16))).toEqual(['delete web uid-web 0']);
});

test.each([
  ['its kubelet may still stop it in time', pod('web', 'lost'), 14],
  ['its node responds', pod('web', 'here'), 3600],
  ['the kubelet of its node reports that it is not ready', pod('web', 'ill'), 3600],
  ['it is not being deleted', pod('web', 'lost', { isDeleted: false }), 3600],
])('keeps a pod: %s', async (_, one, seconds) => {
  expect(await sweep([one], at(seconds))).toEqual([]);
});

test('continues with other pods when one is gone or replaced', async () => {
  refusal = new ApiError('PATCH', 409, 'Conflict', 'another uid');
  expect(await sweep([pod('a', 'lost'), pod('b', 'lost')], at(60))).toHaveLength(2);
});
