import { expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InformerCache } from '../../kubernetes/informer-cache.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import { reduced, type ObjectState } from '../../operator/services/isolation/object-state.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const applied = { manager: 'coppice-operator', operation: 'Apply', time: '2026-01-01T00:00:00Z', fieldsV1: {} };

test('keeps at most 400 bytes of an isolation policy in the cache', () => {
  const count = 20_000;
  const cache = new InformerCache<ObjectState>({}, () => undefined);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const items = Array.from({ length: count }, (_, index) => {
    const metadata = {
      name: 'default-deny',
      namespace: `env-shop-feature-${index}--group-${index % 300}`,
      resourceVersion: String(1_000_000 + index),
      uid: `d5d86d4e-5a4c-4b3e-9f0b-${index}`,
      labels: { 'app.kubernetes.io/managed-by': 'coppice', 'coppice.dev/environment': `shop-feature-${index}` },
      managedFields: [applied],
    };
    // Parsed, as the objects of a list are, so that nothing is shared between them.
    const text = JSON.stringify({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata });
    return reduced('NetworkPolicy', JSON.parse(text) as KubernetesObject);
  });
  cache.replace({ items, resourceVersion: '2000000' });
  items.length = 0;
  collectGarbage();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  expect(cache.store.size).toBe(count);
  expect(bytes).toBeLessThan(400);
});
