import { expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { podTrouble } from './pod-trouble.ts';

function pod(status: object): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status };
}

const container = (state: object, lastState: object = {}) =>
  pod({ containerStatuses: [{ name: 'c', state, lastState }] });

test.each([
  [container({ running: {} }), undefined],
  [container({ waiting: { reason: 'ContainerCreating' } }), undefined],
  [
    container({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
    'ImagePullBackOff (no such image)',
  ],
  [
    container({ waiting: { reason: 'CrashLoopBackOff' } }, { terminated: { exitCode: 3, message: 'a\nb' } }),
    'CrashLoopBackOff (exit code 3: a\nb)',
  ],
  [container({ terminated: { exitCode: 1, message: 'oops' } }), 'exit code 1: oops'],
  [container({ terminated: { exitCode: 0 } }), undefined],
  [pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes' }] }), '0/1 nodes'],
])('%j', (given, expected) => {
  expect(podTrouble(given)).toBe(expected);
});
