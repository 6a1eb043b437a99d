import { refSnapshotKey, type RefSnapshot } from '../../crds/ref-snapshot.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { FakeCluster } from './fake-cluster.ts';
import type { FakeRedis } from './fake-redis.ts';

/** Stores refs as those that the last sync of a repository listed. */
export async function storeListedRefs(
  { cluster, redis }: { cluster: FakeCluster; redis: FakeRedis },
  repository: string,
  refs: Partial<RefSnapshot>,
): Promise<void> {
  const found = cluster.all<Repository>(REPOSITORY).find(({ metadata }) => metadata.name === repository);
  const leftOut = { branches: 0, tags: 0, pullRequests: 0 };
  const listed = { at: '2026-01-01T00:00:00.000Z', branches: [], tags: [], pullRequests: [], leftOut, ...refs };
  const expiration = { type: 'PX', value: 3600_000 } as const;
  await redis.set(refSnapshotKey(found?.metadata.uid ?? ''), JSON.stringify(listed), { expiration });
}
