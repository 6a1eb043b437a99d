import { expect, test } from '@jest/globals';
import { isReadySinceBefore } from './pod-readiness.ts';

const started = new Map([['node', Date.parse('2026-01-01T12:00:00Z')]]);
const before = '2026-01-01T11:00:00Z';
const after = '2026-01-01T12:00:05Z';

test.each([
  ['ready since before the node started', 'True', before, 'ReplicaSet', true],
  ['ready since then', 'True', after, 'ReplicaSet', false],
  ['not ready, now as before', 'False', before, 'ReplicaSet', false],
  ["the node's own", 'True', before, 'Node', false],
])('%s', (_, status, lastTransitionTime, kind, expected) => {
  const pod = {
    metadata: { ownerReferences: [{ kind }] },
    spec: { nodeName: 'node' },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] },
  };
  expect(isReadySinceBefore(started, pod)).toBe(expected);
});

test('is not ready since before the start of a node that is not known', () => {
  const status = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before }] };
  expect(isReadySinceBefore(started, { metadata: {}, spec: { nodeName: 'other' }, status })).toBe(false);
});

test('describes a pod that was never observed', () => {
  expect(isReadySinceBefore(started, { metadata: {}, status: {} })).toBe(false);
});
