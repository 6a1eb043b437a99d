import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { isHopeless, isKeptByVolume } from './pod-state.ts';

const deadlineSeconds = 60;
const now = new Date('2026-01-01T12:00:00Z');
const early = '2026-01-01T11:00:00Z';
const late = '2026-01-01T11:59:30Z';

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['not ready for longer than builds wait', 'False', early, true],
  ['not ready for a while', 'False', late, false],
  // Something else than the pod is missing, such as its Secret, so it becomes ready by itself.
  ['ready for long', 'True', early, false],
  ['created long ago, without a condition', undefined, undefined, true],
])('%s', (_, status, lastTransitionTime, expected) => {
  const conditions = status === undefined ? [] : [{ type: 'Ready', status, lastTransitionTime }];
  const pod: object = {
    metadata: { name: 'builder', creationTimestamp: early },
    status: { phase: 'Running', conditions },
  };
  expect(isHopeless(pod as Pod, deadlineSeconds, now)).toBe(expected);
});

const others = '0/3 nodes are available: 1 node(s) were unschedulable, 1 node(s) ';

test.each<[string, object, boolean]>([
  ['of another node', { status: 'False', message: `${others}had volume node affinity conflict.` }, true],
  ['in newer words', { status: 'False', message: `${others}didn't match PersistentVolume's node affinity.` }, true],
  ['of nodes that were not considered', { status: 'False', message: "didn't satisfy plugin(s) [VolumeBinding]" }, true],
  ['but only for a moment', { status: 'False', message: 'had volume node affinity conflict', since: late }, false],
  ['and no processor', { status: 'False', message: '0/3 nodes are available: 3 Insufficient cpu.' }, false],
  ['and is scheduled', { status: 'True' }, false],
])('a volume %s', (_, { since = early, ...condition }: { since?: string }, expected) => {
  const at = new Date(Date.parse(late) + 10_000);
  const pod: object = { status: { conditions: [{ type: 'PodScheduled', lastTransitionTime: since, ...condition }] } };
  expect(isKeptByVolume(pod as Pod, at)).toBe(expected);
});
