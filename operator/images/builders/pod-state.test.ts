import { expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { isHopeless } from './pod-state.ts';

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
