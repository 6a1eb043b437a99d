import { describe, expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InformerCache } from '../../../kubernetes/informer-cache.ts';
import { keyOf, type KubernetesObject } from '../../../kubernetes/resource-type.ts';
import { reduced, type IsolationKind, type ObjectState } from './object-state.ts';

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

test('keeps at most 400 bytes of an object in the cache', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const count = 20_000;
  const cache = new InformerCache<ObjectState>({}, () => undefined);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const items = Array.from({ length: count }, (_, index) => {
    const text = JSON.stringify(
      object({
        name: 'default-deny',
        namespace: `env-shop-feature-${index}--group-${index % 300}`,
        resourceVersion: String(1_000_000 + index),
        uid: `d5d86d4e-5a4c-4b3e-9f0b-${index}`,
        labels: { 'app.kubernetes.io/managed-by': 'coppice', 'coppice.dev/environment': `shop-feature-${index}` },
        managedFields: [applied],
      }),
    );
    return reduced('NetworkPolicy', JSON.parse(text) as KubernetesObject);
  });
  cache.replace({ items, resourceVersion: '2000000' });
  items.length = 0;
  collectGarbage();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  expect(cache.store.size).toBe(count);
  expect(bytes).toBeLessThan(400);
});
