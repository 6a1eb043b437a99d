import { expect, test } from '@jest/globals';
import { largeRepository } from '../../crds/testing/large-repository.ts';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { holdMany } from '../../kubernetes/testing/held-heap.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { operatorCaches } from '../../operator/controllers/caches.ts';

test('does not keep the service files of Repositories in memory', async () => {
  const { held, heapMiB } = await holdMany(
    largeRepository,
    (client) => operatorCaches(client, 'coppice-builders', silentLogger, new RuntimeMetrics()).repositories,
  );
  expect(held.map(({ spec }) => spec.serviceFile)).toEqual(Array.from({ length: 31 }, () => ({ mode: 'both' })));
  expect(heapMiB).toBeLessThan(4);
});
