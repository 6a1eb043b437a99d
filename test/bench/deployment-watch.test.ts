import { expect, test } from '@jest/globals';
import { isRolledOut } from './deployment-watch.ts';

test.each([
  ['all replicas available', 2, { observedGeneration: 3, updatedReplicas: 2, availableReplicas: 2 }, true],
  ['one not available', 2, { observedGeneration: 3, updatedReplicas: 2, availableReplicas: 1 }, false],
  ['one of the former template', 2, { observedGeneration: 3, updatedReplicas: 1, availableReplicas: 2 }, false],
  ['not looked at since it changed', 2, { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 2 }, false],
  ['never looked at', 0, undefined, false],
  ['none wanted', 0, { observedGeneration: 3 }, true],
  ['one by default', undefined, { observedGeneration: 3 }, false],
])('%s', (_, replicas, status, expected) => {
  const metadata = { name: 'web', namespace: 'env', generation: 3 };
  const spec = { replicas, selector: {}, template: {} };
  expect(isRolledOut({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec, status })).toBe(expected);
});
