import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import { environmentName } from '../../../crds/environment-name.ts';
import { pendingRequests } from '../../../crds/requests.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import { Waiting } from '../../shared/errors.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import { commitOf, FakeWorld } from './testing/fake-world.ts';

const minute = 60_000;
const ask = (value: string) => ({ 'coppice.dev/request-sync': value });
let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
});

/** Returns a world after the first interval. */
async function syncedWorld(): Promise<FakeWorld> {
  await world.reconcile();
  world.now += 5 * minute;
  await world.reconcile();
  return world;
}

describe('a new Repository', () => {
  test('is checked and reported as readable, and synchronized after an interval', async () => {
    world.capabilities = { statuses: true, hooks: undefined };
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
    expect(world.condition('Ready')).toEqual([
      'True',
      'Readable',
      'the Git repository can be read; commit statuses: possible; webhooks: the host does not report this',
    ]);
    expect(world.repository?.status?.url).toBe('https://git.example/shop');
    expect([world.calls.listings, world.names()]).toEqual([0, []]);
    expect(world.condition('Synced')).toEqual([
      'Unknown',
      'NotSyncedYet',
      'the refs are first synchronized at 2026-01-01T00:05:00Z, so that Environments can be applied before. To ' +
        'synchronize them now, set the annotation coppice.dev/request-sync to a new value',
    ]);
    const { statusWrites } = world.calls;
    world.now += minute;
    await world.reconcile();
    expect(world.calls.statusWrites).toBe(statusWrites);
  });

  test('is synchronized at once on request', async () => {
    world.annotate(ask('now'));
    await world.reconcile();
    expect(world.names()).toEqual(['shop-main']);
    expect(world.repository?.status).toMatchObject({
      handledRequests: { sync: 'now' },
      sync: { branches: 1, tags: 0, pullRequests: 0, at: '2026-01-01T00:00:00.000Z' },
    });
  });

  test('with wrong credentials is Stalled with the message of the check, and reconciled again in 5 minutes', async () => {
    world.hostError = new SourceRefusedError('AuthenticationFailed', 'the token is wrong');
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
    expect(world.condition('Stalled')).toEqual(['True', 'AuthenticationFailed', 'the token is wrong']);
  });

  test('over SSH reports its key even while the host refuses it', async () => {
    world.sshPublicKey = 'ssh-ed25519 AAAA';
    world.hostError = new Waiting('KeyNotAccepted', 'add the key', 30_000);
    await expect(world.reconcile()).rejects.toThrow(Waiting);
    expect(world.repository?.status).toMatchObject({ sshPublicKey: 'ssh-ed25519 AAAA' });
    expect(world.condition('Ready')).toEqual(['False', 'KeyNotAccepted', 'add the key']);
  });
});

test('requeues a webhook that waits when it asks for it, not at the next sync', async () => {
  const report = { type: 'Webhook', status: 'False' as const, reason: 'SecretTaken', message: 'delete it' };
  world.webhook = { webhook: undefined, report, recheckAfterMs: 2000 };
  expect(await world.reconcile()).toEqual({ requeueAfterMs: 2000 });
  expect(world.condition('Webhook')).toEqual(['False', 'SecretTaken', 'delete it']);
  world.annotate(ask('now'));
  expect(await world.reconcile()).toEqual({ requeueAfterMs: 2000 });
});

describe('a repository whose name another one has taken', () => {
  beforeEach(async () => {
    world.hostRepositoryId = '6';
    world.annotate(ask('one'));
    await world.reconcile();
    world.hostRepositoryId = '7';
    world.branches = { trunk: commitOf(2) };
  });

  test('is recognized by its ID', () => {
    expect(world.repository?.status?.hostRepository).toEqual({ origin: 'https://git.example/shop.git', id: '6' });
  });

  test('is Stalled from the next sync on; no environment is created or removed', async () => {
    for (const request of ['two', 'three']) {
      world.annotate(ask(request));
      await world.reconcile();
      expect(world.condition('Stalled')?.slice(0, 2)).toEqual(['True', 'RepositoryReplaced']);
    }
    expect(world.names()).toEqual(['shop-main']);
    expect(world.repository?.status?.hostRepository?.id).toBe('6');
  });
});

describe('a Repository at a busy host', () => {
  test('is checked when the host permits it, with the reason reported', async () => {
    world.hostError = new HostBusyError('too many requests', minute);
    await expect(world.reconcile()).rejects.toMatchObject({ afterMs: minute });
    expect(world.condition('Ready')).toEqual(['False', 'HostBusy', 'too many requests']);
  });
});

describe('a sync', () => {
  test('creates and removes environments and requests builds, then writes nothing while nothing changes', async () => {
    await syncedWorld();
    expect(world.names()).toEqual(['shop-main']);
    expect(world.condition('Synced')).toEqual(['True', 'Synced', 'the environments are synchronized with the refs']);
    const { statusWrites } = world.calls;
    for (let polls = 0; polls < 3; polls++) {
      world.now += 5 * minute;
      expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
    }
    expect(world.calls).toMatchObject({ listings: 4, checks: 1, statusWrites });

    world.branches = { trunk: commitOf(2) };
    world.now += 5 * minute;
    await world.reconcile();
    expect(world.names()).toEqual(['shop-trunk']);
    expect(world.gone).toEqual(['shop-main']);
    expect(world.repository?.status?.sync?.at).toBe(new Date(world.now).toISOString());
  });

  test('requests the build of a new commit once', async () => {
    const since = '2026-01-01T00:00:00Z';
    const activation = sampleActivation({ since });
    world.add(
      {
        spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
        status: { activation, commit: commitOf(9) },
      },
      { name: 'shop-main' },
    );
    await syncedWorld();
    const asked = () => world.environments.get('shop-main')?.metadata.annotations?.['coppice.dev/request-build'];
    expect(asked()).toBe(`2026-01-01T00:05:00.000Z/sync-${commitOf(1)}`);
    world.now += 5 * minute;
    await world.reconcile();
    expect(asked()).toBe(`2026-01-01T00:05:00.000Z/sync-${commitOf(1)}`);
  });

  test('of a host that does not respond keeps the Repository ready, reports it, and is retried with backoff', async () => {
    await syncedWorld();
    world.hostError = new SourceUnreachableError('the Git host did not respond in time');
    world.now += 5 * minute;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 10_000 });
    expect(world.condition('Synced')).toEqual([
      'False',
      'HostUnreachable',
      'the Git host did not respond in time. Coppice retries this',
    ]);
    expect(world.condition('Ready')?.[0]).toBe('True');
    world.now += 10_000;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 20_000 });
    expect(world.names()).toEqual(['shop-main']);
    world.hostError = undefined;
    world.now += 20_000;
    await world.reconcile();
    expect(world.condition('Synced')?.[0]).toBe('True');
  });

  test('of a busy host is retried when the host permits it', async () => {
    await syncedWorld();
    world.hostError = new HostBusyError('too many requests', 15 * minute);
    world.now += 5 * minute;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 15 * minute });
    expect(world.condition('Synced')).toEqual(['False', 'HostBusy', 'too many requests. Coppice retries this']);
    world.annotate(ask('now'));
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 15 * minute });
  });

  test('that is refused makes the Repository Stalled, and the check is repeated before the next one', async () => {
    await syncedWorld();
    world.hostError = new SourceRefusedError('NotFound', 'there is no such repository');
    world.now += 5 * minute;
    // The first retry is soon, because the host may have a temporary problem.
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 30_000 });
    expect(world.condition('Stalled')).toEqual(['True', 'NotFound', 'there is no such repository']);
    expect(world.names()).toEqual(['shop-main']);
    world.now += 30_000;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
    world.hostError = undefined;
    world.now += 5 * minute;
    await world.reconcile();
    expect([world.condition('Ready')?.[0], world.calls.checks]).toEqual(['True', 3]);
  });

  test('of a list without a branch removes nothing and reports it', async () => {
    await syncedWorld();
    world.branches = {};
    world.now += 5 * minute;
    await world.reconcile();
    expect(world.names()).toEqual(['shop-main']);
    expect(world.condition('Synced')?.slice(0, 2)).toEqual(['False', 'NoBranches']);
  });

  test('creates what its rules say, with the requests that a user would send', async () => {
    world.tags = { v1: commitOf(1) };
    world.branches = { main: commitOf(1), dev: commitOf(1), wip: commitOf(1) };
    const rules = [
      { branches: ['main'], environment: 'built' as const, ttlSeconds: 60 },
      { branches: ['dev'], environment: 'created' as const, sleep: { afterSeconds: 0 } },
      { tags: ['**'], environment: 'empty' as const },
    ];
    world.change({}, { sync: { newestTags: 10, rules } });
    await syncedWorld();
    const made = world.names().map((name) => {
      const { spec, metadata } = world.environments.get(name) ?? {};
      return [
        spec?.gitRef.name,
        spec?.active,
        spec?.ttlSeconds,
        spec?.sleep,
        pendingRequests(metadata?.annotations, {}).map((one) => one.name),
      ];
    });
    expect(made).toEqual([
      ['dev', false, undefined, { afterSeconds: 0 }, ['create']],
      ['main', false, 60, undefined, ['create', 'build']],
      ['v1', false, undefined, undefined, []],
    ]);
    expect(world.repository?.status?.sync).toMatchObject({
      rules: [{ matched: 1 }, { matched: 1 }, { matched: 1 }],
      unmatched: { count: 1, examples: [{ ref: 'branch wip' }] },
    });
  });

  test('creates nothing in a dry run, and says so', async () => {
    world.change({}, { sync: { newestTags: 10, dryRun: true } });
    await syncedWorld();
    expect(world.names()).toEqual([]);
    expect(world.condition('Synced')).toEqual([
      'True',
      'SyncedInPart',
      'the environments are synchronized with the refs; spec.sync.dryRun is set, so 1 refs get no environment',
    ]);
  });

  test('whose list of pull requests fails synchronizes branches, keeps pull requests, and reports it', async () => {
    const access = { origin: 'https://git.example/shop.git', credentials: undefined };
    const location = { access, refName: 'refs/pull/7/head' };
    world.pullRequests = [{ number: 7, commit: commitOf(1), isFork: false, facts: {}, location }];
    await syncedWorld();
    const [, pullRequest] = world.names();
    world.pullRequests = new SourceUnreachableError('the list has more than 200 pages');
    world.branches = { trunk: commitOf(1) };
    world.now += 5 * minute;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 10_000 });
    expect(world.names()).toEqual([pullRequest, 'shop-trunk']);
    expect(world.condition('Synced')).toEqual([
      'False',
      'HostUnreachable',
      'the open pull requests could not be listed, so their environments stay as they are; branches and tags are ' +
        'synchronized: the list has more than 200 pages. Coppice retries this',
    ]);
  });

  test('of very many refs is not repeated before its cost permits, whoever requests it, and says so', async () => {
    world.gapMs = 24_000;
    await syncedWorld();
    const { listings } = world.calls;
    expect(world.condition('Synced')).toEqual([
      'True',
      'Synced',
      expect.stringContaining('is read at most every 30 s: delete branches and tags'),
    ]);
    world.annotate(ask('again'));
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 24_000 });
    expect(world.calls.listings).toBe(listings);
    world.now += 24_000;
    await world.reconcile();
    expect(world.calls.listings).toBe(listings + 1);
  });

  test('names the refs that have no environment', async () => {
    world.branches = { main: commitOf(1), ['x'.repeat(201)]: commitOf(1) };
    await syncedWorld();
    expect(world.names()).toEqual(['shop-main']);
    expect(world.condition('Synced')).toEqual(['True', 'SyncedInPart', expect.stringContaining('"xxxx')]);
  });

  test('of a suspended Repository does not happen', async () => {
    world = new FakeWorld({ suspend: true });
    world.annotate(ask('now'));
    await syncedWorld();
    expect([world.calls.listings, world.names()]).toEqual([0, []]);
    expect(world.condition('Synced')?.slice(0, 2)).toEqual(['False', 'Suspended']);
    world.change({ generation: 2, annotations: {} }, { suspend: false });
    await world.reconcile();
    expect([world.names(), world.condition('Synced')?.[0]]).toEqual([['shop-main'], 'True']);
  });

  test('that the cluster interrupts writes no condition, and is repeated', async () => {
    await syncedWorld();
    const { statusWrites } = world.calls;
    world.branches = { main: commitOf(1), more: commitOf(1) };
    world.beforeWrite = () => {
      throw new ApiError('POST', 503, 'ServiceUnavailable', 'not now');
    };
    world.now += 5 * minute;
    await expect(world.reconcile()).rejects.toThrow('not now');
    expect(world.calls.statusWrites).toBe(statusWrites);
    world.beforeWrite = () => undefined;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 10_000 });
    world.now += 10_000;
    await world.reconcile();
    expect(world.names()).toEqual(['shop-main', 'shop-more']);
  });
});

describe('a sync that the cluster refuses', () => {
  const refuse = () => {
    throw new ApiError('POST', 403, 'Forbidden', 'exceeded quota');
  };

  test('keeps the Repository ready, reports the reason, and is retried with backoff', async () => {
    await world.reconcile();
    world.now += 5 * minute;
    world.beforeWrite = refuse;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 10_000 });
    const reported = [
      'False',
      'Refused',
      "Kubernetes rejected an environment: exceeded quota. Correct what it names, or ask an administrator to check the cluster's policies and quotas",
    ];
    expect([world.condition('Ready')?.[0], world.condition('Synced')]).toEqual(['True', reported]);
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 10_000 });
    world.now += 10_000;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 20_000 });
    expect(world.calls).toMatchObject({ checks: 1, listings: 2 });
    world.beforeWrite = () => undefined;
    world.now += 20_000;
    await world.reconcile();
    expect([world.names(), world.condition('Synced')?.[0]]).toEqual([['shop-main'], 'True']);
  });
});

describe('a Repository whose list is refused although its check succeeds', () => {
  test('is never reported as ready', async () => {
    world.annotate(ask('now'));
    world.listError = new SourceRefusedError('Forbidden', 'no right to read');
    for (let round = 0; round < 3; round++) {
      expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
      world.now += 5 * minute;
    }
    expect(world.calls).toMatchObject({ checks: 3, listings: 3, statusWrites: 1 });
    expect(world.condition('Stalled')).toEqual(['True', 'Forbidden', 'no right to read']);
    world.listError = undefined;
    await world.reconcile();
    expect([world.condition('Ready')?.[0], world.condition('Synced')?.[0]]).toEqual(['True', 'True']);
  });
});

describe('a ref whose former environment is still being deleted', () => {
  const former = { gitRef: { name: 'main', type: 'branch' as const }, active: true, buildOnCreate: true };
  beforeEach(() => {
    world.add(
      { spec: { ...former, repository: 'shop' } },
      { name: 'shop-main', deletionTimestamp: '2026-01-01T00:00:00Z' },
    );
    world.branches = { main: commitOf(1), dev: commitOf(1) };
    world.annotate(ask('now'));
  });

  test('delays nothing else, and the host is not listed again before the name is free', async () => {
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5000 });
    expect(world.names()).toEqual(['shop-dev']);
    expect(world.repository?.status?.handledRequests).toEqual({ sync: 'now' });
    expect(world.condition('Synced')).toEqual(['True', 'SyncedInPart', expect.stringContaining('1 refs')]);
    world.now += 5000;
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5000 });
    expect(world.calls.listings).toBe(1);
    world.environments.delete('shop-main');
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 5 * minute });
    expect([world.names(), world.calls.listings]).toEqual([['shop-dev', 'shop-main'], 2]);
    expect(world.condition('Synced')?.[1]).toBe('Synced');
  });

  test('keeps the annotation with its event, and removes those of other pull requests', async () => {
    world.pullRequests = undefined;
    const name = environmentName('shop', { name: '7', type: 'pull request' });
    const gitRef = { name: '7', type: 'pull request' as const };
    world.add({ spec: { ...former, repository: 'shop', gitRef } }, { name, deletionTimestamp: '2026-01-01T00:00:00Z' });
    const note = '2026-01-01T00:00:00Z/x/open';
    world.annotate({ 'coppice.dev/pull-request-7': note, 'coppice.dev/pull-request-8': note });
    await world.reconcile();
    const noted = () => Object.keys(world.repository?.metadata.annotations ?? {}).filter((one) => one.includes('pull'));
    expect(noted()).toEqual(['coppice.dev/pull-request-7']);
    world.environments.delete(name);
    await world.reconcile();
    expect([noted(), world.names().includes(name)]).toEqual([[], true]);
  });
});

describe('a sync of 1,200 branches', () => {
  beforeEach(() => {
    world.branches = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`b${i}`, commitOf(1)]));
    world.annotate(ask('all'));
  });

  test('creates 500 at a time, and answers the request after the last', async () => {
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 1 });
    expect([world.names().length, world.repository?.status?.handledRequests]).toEqual([500, undefined]);
    await world.reconcile();
    await world.reconcile();
    expect([world.names().length, world.repository?.status?.handledRequests]).toEqual([1200, { sync: 'all' }]);
  });

  test('continues where a stopped operator ended', async () => {
    const ending = new AbortController();
    let writes = 0;
    world.beforeWrite = () => {
      if (++writes === 100) ending.abort();
    };
    await world.reconcile(ending.signal);
    expect(world.names().length).toBeLessThan(110);
    for (let flow = 0; flow < 3; flow++) await world.reconcile();
    expect(world.names()).toHaveLength(1200);
  });
});

describe('pull requests of a host without a list', () => {
  beforeEach(() => {
    world.pullRequests = undefined;
  });
  const noted = () => Object.keys(world.repository?.metadata.annotations ?? {});

  test('are added and removed by events of webhooks, whose annotations are then removed', async () => {
    world.annotate({ ...ask('one'), 'coppice.dev/pull-request-7': '2026-01-01T00:00:00Z/x/open' });
    await world.reconcile();
    await world.reconcile();
    expect(world.names()).toEqual(['shop-main', expect.stringMatching(/^shop-pr-7-/)]);
    expect(noted()).toEqual(['coppice.dev/request-sync']);

    world.annotate({ ...ask('two'), 'coppice.dev/pull-request-7': '2026-01-01T00:00:00Z/y/closed' });
    await world.reconcile();
    expect(world.names()).toEqual(['shop-main']);
    expect(noted()).toEqual(['coppice.dev/request-sync']);
  });

  test('of members get what a rule says, once the host answers who opened them', async () => {
    const rules = [{ pullRequests: { author: 'member' as const }, environment: 'empty' as const }];
    world.change({ generation: 2 }, { sync: { newestTags: 10, rules } });
    const open = '2026-01-01T00:00:00Z/x/open';
    const [member, stranger] = ['coppice.dev/pull-request-7', 'coppice.dev/pull-request-8'];
    world.annotate({ ...ask('one'), [member]: open, [stranger]: open });
    world.authors = new SourceUnreachableError('the Git host did not respond in time');
    await world.reconcile();
    expect(world.names()).toEqual([]);
    expect(noted()).toEqual(['coppice.dev/request-sync', member, stranger]);
    expect(world.condition('Synced')).toEqual(['False', 'HostUnreachable', expect.stringContaining('the authors of')]);

    world.authors = new Map([
      [7, { isMember: true }],
      [8, { isMember: false }],
    ]);
    world.now += 10_000;
    await world.reconcile();
    await world.reconcile();
    expect(world.names()).toEqual([expect.stringMatching(/^shop-pr-7-/)]);
    expect(noted()).toEqual(['coppice.dev/request-sync']);
  });

  test('are removed when they are closed, also while the host does not answer who opened others', async () => {
    const [closed, opened] = ['coppice.dev/pull-request-7', 'coppice.dev/pull-request-8'];
    world.annotate({ ...ask('one'), [closed]: '2026-01-01T00:00:00Z/x/open' });
    await world.reconcile();
    await world.reconcile();
    expect(world.names()).toContainEqual(expect.stringMatching(/^shop-pr-7-/));
    const rules = [{ pullRequests: { author: 'member' as const }, environment: 'empty' as const }];
    world.change({ generation: 2 }, { sync: { newestTags: 10, rules } });
    world.authors = new SourceUnreachableError('the Git host did not respond in time');
    const [gone, open] = ['2026-01-01T00:00:00Z/y/closed', '2026-01-01T00:00:00Z/y/open'];
    world.annotate({ ...ask('two'), [closed]: gone, [opened]: open });
    await world.reconcile();
    expect(world.names()).not.toContainEqual(expect.stringMatching(/^shop-pr-[78]-/));
    expect(noted()).toEqual(['coppice.dev/request-sync', opened]);
  });

  test('keep the annotation of an event that arrives during a sync', async () => {
    await world.reconcile();
    world.annotate({ ...ask('one'), 'coppice.dev/pull-request-7': '2026-01-01T00:00:00Z/x/open' });
    let written = false;
    world.beforeWrite = (verb) => {
      if (verb !== 'create' || written) return;
      written = true;
      world.annotate({ ...ask('two'), 'coppice.dev/pull-request-8': '2026-01-01T00:00:01Z/y/open' });
    };
    await world.reconcile();
    expect(noted()).toContain('coppice.dev/pull-request-8');
    await world.reconcile();
    await world.reconcile();
    expect(world.names()).toHaveLength(3);
    expect(noted()).toEqual(['coppice.dev/request-sync']);
    expect(world.repository?.status?.handledRequests).toEqual({ sync: 'two' });
  });
});

describe('the deletion of a Repository', () => {
  test('deletes its environments, also applied ones, 500 at a time, and then the Repository', async () => {
    world.branches = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`b${i}`, commitOf(1)]));
    world.annotate(ask('now'));
    await world.reconcile();
    await world.reconcile();
    const spec = { gitRef: { name: 'main', type: 'branch' as const }, active: true, buildOnCreate: true };
    world.add({ spec: { ...spec, repository: 'shop' } }, { name: 'applied' });
    world.add({ spec: { ...spec, repository: 'api' } }, { name: 'of-another' });
    world.change({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(await world.reconcile()).toEqual({ requeueAfterMs: 1 });
    expect(world.names()).toHaveLength(102);
    await world.reconcile();
    expect(world.names()).toEqual(['of-another']);
    expect(world.repository?.metadata.finalizers).toEqual(['coppice.dev/cleanup']);
    expect(await world.reconcile()).toEqual({});
    expect(world.repository?.metadata.finalizers).toEqual([]);
  });
});

test('waits outside of groups, and reads the repository when there is a Group', async () => {
  world.noGroup = new Waiting('NoGroup', 'the namespace shop belongs to no Group', 600_000);
  await expect(world.reconcile()).rejects.toBe(world.noGroup);
  expect(world.condition('Reconciling')?.slice(0, 2)).toEqual(['True', 'NoGroup']);
  expect(world.calls.checks).toBe(0);
  world.noGroup = undefined;
  await world.reconcile();
  expect(world.condition('Ready')?.slice(0, 2)).toEqual(['True', 'Readable']);
});

test('reports a request that it cannot handle until it is removed, and stays ready', async () => {
  await world.reconcile();
  world.annotate({ 'coppice.dev/request-build': 'now' });
  await world.reconcile();
  expect(world.condition('RequestsValid')).toEqual([
    'False',
    'MalformedRequest',
    'coppice.dev/request-build is unknown: known are coppice.dev/request-sync. Correct or remove the annotation',
  ]);
  expect(world.condition('Ready')?.slice(0, 2)).toEqual(['True', 'Readable']);
  world.change({ annotations: {} });
  await world.reconcile();
  expect(world.condition('RequestsValid')).toBeUndefined();
});

test('reports variables with names that only Coppice sets until they are renamed, and stays ready', async () => {
  await world.reconcile();
  world.change({}, { variables: [{ name: 'COPPICE_COMMIT', value: 'x', visibility: 'always' }] });
  await world.reconcile();
  expect(world.condition('VariablesValid')).toEqual([
    'False',
    'ReservedName',
    'COPPICE_COMMIT: ignored, because names that start with COPPICE_ are for the variables that Coppice sets. Rename or delete them',
  ]);
  expect(world.condition('Ready')?.slice(0, 2)).toEqual(['True', 'Readable']);
  world.change({}, { variables: [] });
  await world.reconcile();
  expect(world.condition('VariablesValid')).toBeUndefined();
});
