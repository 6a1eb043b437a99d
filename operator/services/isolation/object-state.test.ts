import { describe, expect, test } from '@jest/globals';
import { keyOf, type KubernetesObject } from '../../../kubernetes/resource-type.ts';
import { reduced, type IsolationKind } from './object-state.ts';

const applied = { manager: 'coppice-operator', operation: 'Apply', time: '2026-01-01T00:00:00Z', fieldsV1: {} };
const usage = { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status' };
const object = (metadata: Partial<KubernetesObject['metadata']>): KubernetesObject => ({
  apiVersion: 'meta.k8s.io/v1',
  kind: 'PartialObjectMetadata',
  metadata: { name: 'environment', namespace: 'env-x', uid: 'u', resourceVersion: '1', ...metadata },
});
const before = object({ managedFields: [applied] });

describe.each<[IsolationKind, boolean]>([
  ['ResourceQuota', false],
  ['NetworkPolicy', true],
  ['LimitRange', true],
])('the state of a %s', (kind, countsVersion) => {
  const isNew = (metadata: Partial<KubernetesObject['metadata']>) =>
    reduced(kind, object(metadata)).state !== reduced(kind, before).state;

  test('changes when somebody changes it, and with the object', () => {
    expect(isNew({ resourceVersion: '2', managedFields: [applied, { ...applied, manager: 'kubectl' }] })).toBe(true);
    expect(isNew({ resourceVersion: '2', managedFields: [{ ...applied, time: '2026-01-01T00:00:01Z' }] })).toBe(true);
    expect(isNew({ resourceVersion: '2', managedFields: [applied], uid: 'v' })).toBe(true);
    expect(isNew({ managedFields: [applied] })).toBe(false);
  });

  test('does not change with a counted usage', () => {
    expect(isNew({ resourceVersion: '2', managedFields: [applied, usage] })).toBe(countsVersion);
  });

  test('is found by its key, and contains nothing else', () => {
    const held = reduced(kind, before);
    expect(keyOf(held)).toBe('env-x/environment');
    expect(Object.keys(held.metadata)).toEqual(['name', 'namespace', 'resourceVersion']);
    expect(reduced(kind, held)).toBe(held);
  });
});
