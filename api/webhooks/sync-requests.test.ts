import { expect, test } from '@jest/globals';
import { noteOf, notedPullRequests } from '../../crds/pull-request-events.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { UnreachableError } from '../../kubernetes/api-error.ts';
import { FakeClock } from '../../kubernetes/testing/fake-clock.ts';
import { Unavailable } from '../shared/errors.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { fakeCaches } from '../testing/test-api.ts';
import { SyncRequests, WRITE_GAP_MS } from './sync-requests.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function setUp(annotations: Record<string, string> = {}) {
  const clock = new FakeClock(now);
  const cluster = new FakeCluster(clock);
  const { repositories: cache } = fakeCaches(cluster);
  const repository = cluster.add<Repository>(REPOSITORY, {
    apiVersion: 'v',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: 'shop', annotations },
    spec: { type: 'generic', generic: { origin: 'https://h/a' } },
  });
  const requests = new SyncRequests({ cluster, cache, clock, now: () => now });
  const written = () => cluster.all<Repository>(REPOSITORY)[0]?.metadata.annotations;
  return { clock, cluster, repository, requests, written };
}

test('writes an annotation with a time', async () => {
  const { repository, requests, written } = setUp();
  await requests.ask(repository);
  expect(written()).toEqual({
    'coppice.dev/request-sync': expect.stringMatching(/^2026-01-01T00:00:00\.000Z\/[\w-]+$/) as unknown,
    'coppice.dev/sync-requested-by': 'webhook',
  });
});

test('combines a burst into two writes, with a minimum time between them', async () => {
  const { clock, cluster, repository, requests, written } = setUp();
  const first = requests.ask(repository);
  await Promise.resolve();
  const rest = Array.from({ length: 100 }, (_, index) =>
    requests.ask(repository, { number: (index % 3) + 1, isOpen: true }),
  );
  await first;
  await clock.advance(WRITE_GAP_MS - 1);
  expect(cluster.patches).toHaveLength(1);
  await clock.advance(1);
  await Promise.all(rest);
  expect(cluster.patches).toHaveLength(2);
  expect(notedPullRequests(written()).map(({ number }) => number)).toEqual([1, 2, 3]);
});

test('keeps the latest event of a pull request', async () => {
  const { repository, requests, written } = setUp(
    Object.fromEntries([noteOf({ number: 7, isOpen: true }, new Date(0), 'x')]),
  );
  await Promise.all([
    requests.ask(repository, { number: 7, isOpen: true }),
    requests.ask(repository, { number: 7, isOpen: false }),
  ]);
  expect(notedPullRequests(written())).toMatchObject([{ number: 7, isOpen: false }]);
});

test('records at most 50 pull requests, reports further ones, and still updates the recorded ones', async () => {
  const noted = Array.from({ length: 49 }, (_, index) => noteOf({ number: index + 1, isOpen: true }, new Date(0), 'x'));
  const { repository, requests, written } = setUp(Object.fromEntries(noted));
  const [fits, beyond, known, sync] = await Promise.allSettled([
    requests.ask(repository, { number: 100, isOpen: true }),
    requests.ask(repository, { number: 101, isOpen: true }),
    requests.ask(repository, { number: 1, isOpen: false }),
    requests.ask(repository),
  ]);
  expect([fits.status, known.status, sync.status]).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  expect(beyond).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  const after = notedPullRequests(written());
  expect(after).toHaveLength(50);
  expect(after[0]).toMatchObject({ number: 1, isOpen: false });
  expect(after[49]).toMatchObject({ number: 100, isOpen: true });
  expect(written()).toHaveProperty(['coppice.dev/request-sync']);
});

test('writes at once when the last write is long enough ago', async () => {
  const { clock, cluster, repository, requests } = setUp();
  await requests.ask(repository);
  await clock.advance(WRITE_GAP_MS);
  await requests.ask(repository);
  expect(cluster.patches).toHaveLength(2);
  expect(clock.pending).toBe(1);
});

test('reports a failure to all waiting callers, and tries again for the next', async () => {
  const { clock, cluster, repository, requests, written } = setUp();
  cluster.failure = new UnreachableError('PATCH');
  await expect(requests.ask(repository)).rejects.toBeInstanceOf(UnreachableError);
  const next = requests.ask(repository);
  await clock.advance(WRITE_GAP_MS);
  await next;
  expect(written()).toHaveProperty(['coppice.dev/request-sync']);
});
