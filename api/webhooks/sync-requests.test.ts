import { expect, test } from '@jest/globals';
import { noteOf, notedPullRequests } from '../../crds/pull-request-events.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { UnreachableError } from '../../kubernetes/api-error.ts';
import { systemClock } from '../../kubernetes/clock.ts';
import { Unavailable } from '../shared/errors.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
import { fakeCaches } from '../testing/test-api.ts';
import { SyncRequests } from './sync-requests.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function setUp(annotations: Record<string, string> = {}) {
  const cluster = new FakeCluster(systemClock);
  const { repositories: cache } = fakeCaches(cluster);
  const repository = cluster.add<Repository>(REPOSITORY, {
    apiVersion: 'v',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: 'shop', annotations },
    spec: { type: 'generic', generic: { origin: 'https://h/a' } },
  });
  const requests = new SyncRequests({ cluster, cache, now: () => now });
  const written = () => cluster.all<Repository>(REPOSITORY)[0]?.metadata.annotations;
  return { cluster, repository, requests, written };
}

test('writes an annotation with a time', async () => {
  const { repository, requests, written } = setUp();
  await requests.ask(repository);
  expect(written()).toEqual({
    'coppice.dev/request-sync': expect.stringMatching(/^2026-01-01T00:00:00\.000Z\/[\w-]+$/) as unknown,
    'coppice.dev/sync-requested-by': 'webhook',
  });
});

test('combines a burst into two writes', async () => {
  const { cluster, repository, requests, written } = setUp();
  const first = requests.ask(repository);
  await Promise.resolve();
  const rest = Array.from({ length: 100 }, (_, index) =>
    requests.ask(repository, { number: (index % 3) + 1, isOpen: true }),
  );
  await Promise.all([first, ...rest]);
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

test('reports a failure to all waiting callers, and tries again for the next', async () => {
  const { cluster, repository, requests, written } = setUp();
  cluster.failure = new UnreachableError('PATCH');
  await expect(requests.ask(repository)).rejects.toBeInstanceOf(UnreachableError);
  await requests.ask(repository);
  expect(written()).toHaveProperty(['coppice.dev/request-sync']);
});
