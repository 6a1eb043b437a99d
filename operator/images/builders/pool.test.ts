import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { FakeCluster, SETTINGS } from './testing/fake-cluster.ts';
import { BuilderPool, type BuilderRequest } from './pool.ts';

const build = (environment: string, number = 1) => ({ environment, environmentUid: `uid-of-${environment}`, number });
const trusted: BuilderRequest = { group: 'acme', trusted: true, build: build('shop-main') };
const fork = (environment: string): BuilderRequest => ({ group: 'acme', trusted: false, build: build(environment) });
const forkBuilder = (environment: string) => `ephemeral-uid-of-${environment}-1`;

function poolIn(cluster: FakeCluster) {
  const woken: string[] = [];
  const enqueue = (key: string) => void woken.push(key);
  const logger = pino({ enabled: false });
  const pool = new BuilderPool({
    builders: cluster.builders,
    settings: SETTINGS,
    enqueue,
    logger,
    now: () => cluster.now,
  });
  /** Returns what acquire() resolves to, or the error with which it rejects. */
  const ask = (request: BuilderRequest) => pool.acquire(request).catch((error: unknown) => error);
  return { pool, woken, ask };
}

describe('a group’s builder', () => {
  test('is created by the first build that asks, and given to its group only once it is ready', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    expect(cluster.calls).toEqual([
      'apply Secret group-acme',
      'apply NetworkPolicy group-acme',
      'create PersistentVolumeClaim group-acme',
      'create Pod group-acme',
    ]);
    cluster.becomesReady('group-acme');
    const endpoint = await ask(trusted);
    expect(endpoint).toMatchObject({ address: 'tcp://10.0.0.7:1234', serverName: 'group-acme' });
    expect(Object.values(endpoint as object)).not.toContain('');
    expect(await ask({ ...trusted, group: 'other' })).toBeInstanceOf(Waiting);
  });

  test('is started once by builds that ask at the same time', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await Promise.all([ask(trusted), ask({ ...trusted, build: build('shop-summer') })]);
    expect(cluster.calls.filter((call) => call.startsWith('create Pod'))).toHaveLength(1);
  });

  test('requeues the builds that wait for it', async () => {
    const { pool, woken, ask } = poolIn(new FakeCluster());
    await ask(trusted);
    await ask({ ...trusted, build: build('shop-summer') });
    pool.wake('group-other');
    expect(woken).toEqual([]);
    pool.wake('group-acme');
    pool.wake('group-acme');
    expect(woken).toEqual(['group-acme/shop-main', 'group-acme/shop-summer']);
  });

  test('starts without its cache where the cache is on a node that takes no pods', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    const pod = cluster.pod('group-acme');
    const lastTransitionTime = cluster.now.toISOString();
    const message = '0/3 nodes are available: 1 node(s) had volume node affinity conflict.';
    pod!.status = { conditions: [{ type: 'PodScheduled', status: 'False', message, lastTransitionTime }] };
    cluster.calls.length = 0;
    await ask(trusted);
    expect(cluster.calls).toEqual([]);
    cluster.now = new Date(cluster.now.getTime() + 15_000);
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    expect(cluster.calls).toEqual(['delete PersistentVolumeClaim group-acme', 'delete Pod group-acme']);
    cluster.collectGarbage();
    cluster.calls.length = 0;
    await ask(trusted);
    expect(cluster.calls).toContain('create PersistentVolumeClaim group-acme');
  });

  test('is gone for a build that was started with an earlier pod, or with one that is deleted', async () => {
    const cluster = new FakeCluster();
    const { pool, ask } = poolIn(cluster);
    const before = new Date(cluster.now.getTime() - 1000);
    expect(pool.isGone(trusted, before)).toBe(true);
    await ask(trusted);
    expect(pool.isGone(trusted, before)).toBe(true);
    expect(pool.isGone(trusted, cluster.now)).toBe(false);
  });

  test('is started early by warm(), with its cache and certificates', async () => {
    const cluster = new FakeCluster();
    const { pool, ask } = poolIn(cluster);
    await ask(trusted);
    const pod = cluster.pod('group-acme');
    await cluster.builders.stop(pod!);
    cluster.collectGarbage();
    cluster.calls.length = 0;
    pool.warm('acme');
    await new Promise(setImmediate);
    expect(cluster.calls).toEqual(['create Pod group-acme']);
  });

  test('is not given while it is being stopped, although it still responds', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    cluster.becomesReady('group-acme');
    const stopping = cluster.builders.stop(cluster.pod('group-acme')!);
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    await stopping;
  });

  test('fails the build with the reason if it does not become ready', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    cluster.pod('group-acme')!.status = { containerStatuses: [{ state: { waiting } }] } as never;
    expect(await ask(trusted)).toMatchObject({
      reason: 'StartingBuilder',
      message: expect.stringContaining('no such image'),
    });
    cluster.passes(181);
    expect(await ask(trusted)).toBeInstanceOf(Stalled);
    expect(await ask(trusted)).toMatchObject({
      reason: 'BuilderUnavailable',
      message: expect.stringContaining('no such image'),
    });
  });

  test('fails the build at once if the kubelet refuses it', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    cluster.fails('group-acme', 'the node is out of disk');
    expect(await ask(trusted)).toMatchObject({
      reason: 'BuilderUnavailable',
      message: expect.stringContaining('out of disk'),
    });
  });

  test('is replaced after an eviction', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    const evicted = cluster.pod('group-acme')?.metadata.uid;
    cluster.passes(60);
    cluster.fails('group-acme', 'evicted');
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    expect(cluster.calls.at(-1)).toBe('delete Pod group-acme');
    cluster.collectGarbage();
    await ask(trusted);
    expect(cluster.pod('group-acme')?.metadata.uid).not.toBe(evicted);
    cluster.becomesReady('group-acme');
    expect(await ask(trusted)).toMatchObject({ serverName: 'group-acme' });
  });

  test('on a lost node delays a build for at most the time of a start, from when the build started to wait', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    cluster.becomesReady('group-acme');
    await ask(trusted);
    cluster.pod('group-acme')!.spec = { ...cluster.pod('group-acme')!.spec, nodeName: 'node-7' } as never;
    await cluster.builders.stop(cluster.pod('group-acme')!);
    cluster.passes(3600);
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    cluster.passes(180);
    expect(await ask(trusted)).toBeInstanceOf(Waiting);
    cluster.passes(1);
    const later = { ...trusted, build: build('shop-summer') };
    expect(await ask(later)).toBeInstanceOf(Waiting);
    const error = await ask(trusted);
    expect(error).toBeInstanceOf(Stalled);
    expect(error).toMatchObject({ reason: 'BuilderUnavailable', message: expect.stringContaining('node-7') });
    expect(await ask(later)).toBeInstanceOf(Waiting);
  });

  test('delays a build no longer if its objects are not deleted', async () => {
    const cluster = new FakeCluster();
    const { pool, ask } = poolIn(cluster);
    await ask(trusted);
    await pool.remove('acme');
    cluster.objects.delete('Pod builders/group-acme');
    expect(await ask(trusted)).toMatchObject({ message: expect.stringContaining('still being deleted') });
    cluster.passes(181);
    expect(await ask(trusted)).toMatchObject({ reason: 'BuilderUnavailable' });
  });

  test('is created for another group of the name only when nothing of the former is left', async () => {
    const cluster = new FakeCluster();
    const { pool, ask } = poolIn(cluster);
    await ask(trusted);
    expect(await pool.remove('acme')).toBe(false);
    expect(await ask(trusted)).toMatchObject({ reason: 'StartingBuilder' });
    cluster.collectGarbage();
    expect(await pool.remove('acme')).toBe(true);
    expect([...cluster.objects.keys()]).toEqual([]);
  });
});

describe('code that is not trusted', () => {
  test('gets a builder of its own, without a volume', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(trusted);
    cluster.becomesReady('group-acme');
    cluster.calls.length = 0;
    expect(await ask(fork('shop-7'))).toMatchObject({ reason: 'StartingBuilder' });
    const name = forkBuilder('shop-7');
    expect(cluster.calls).toEqual([`apply Secret ${name}`, `apply NetworkPolicy ${name}`, `create Pod ${name}`]);
    cluster.becomesReady(name, '10.0.0.8');
    expect(await ask(fork('shop-7'))).toMatchObject({ address: 'tcp://10.0.0.8:1234', serverName: name });
  });

  test('gets another builder when its own was evicted', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(fork('shop-7'));
    const name = forkBuilder('shop-7');
    cluster.passes(60);
    cluster.fails(name, 'evicted');
    await ask(fork('shop-7'));
    expect(cluster.calls.at(-1)).toBe(`delete Pod ${name}`);
    cluster.collectGarbage();
    await ask(fork('shop-7'));
    cluster.becomesReady(name);
    expect(await ask(fork('shop-7'))).toMatchObject({ serverName: name });
  });

  test('fails with an explanation if its builder ran out of disk, and is not retried', async () => {
    const cluster = new FakeCluster();
    const { ask } = poolIn(cluster);
    await ask(fork('shop-7'));
    const name = forkBuilder('shop-7');
    cluster.passes(60);
    cluster.fails(name, 'Usage of EmptyDir volume "cache" exceeds the limit "5Gi". ', 'Evicted');
    const error = await ask(fork('shop-7'));
    expect(error).toBeInstanceOf(Stalled);
    expect(String(error)).toMatch(/limit "5Gi".*builder\.ephemeral\.storage/);
    expect(cluster.calls.at(-1)).toBe(`create Pod ${name}`);
  });

  test('waits while all ephemeral builders are in use, and is requeued when one ends', async () => {
    const cluster = new FakeCluster();
    const { pool, woken, ask } = poolIn(cluster);
    const asked = await Promise.all(['shop-1', 'shop-2', 'shop-3'].map((name) => ask(fork(name))));
    expect(asked.map((error) => (error as Waiting).reason)).toEqual([
      'StartingBuilder',
      'StartingBuilder',
      'WaitingForBuilder',
    ]);
    await cluster.builders.remove(forkBuilder('shop-1'));
    cluster.collectGarbage();
    pool.wakeQueue();
    expect(woken).toEqual(['group-acme/shop-3']);
    expect(await ask(fork('shop-3'))).toMatchObject({ reason: 'StartingBuilder' });
  });
});
