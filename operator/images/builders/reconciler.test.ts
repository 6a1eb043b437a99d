import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { FakeCluster, SETTINGS } from './testing/fake-cluster.ts';
import { groupBuilder, ephemeralBuilder } from './identity.ts';
import { BuilderPool } from './pool.ts';
import { BuilderReconciler } from './reconciler.ts';

const startedAt = '2026-01-01T00:00:00Z';
const building: BuildStatus = { number: 3, result: 'running', startedAt };
const running = { build: building };
const rollingOut = { build: { ...building, images: [], rolloutStartedAt: '2026-01-01T00:05:00Z' } };
const over = { build: { ...rollingOut.build, result: 'succeeded' as const, finishedAt: '2026-01-01T00:06:00Z' } };
const pending = {
  activation: { active: true, since: startedAt, reason: 'Spec', specActive: true, buildPending: true },
} as const;

function environment(status: EnvironmentStatus, metadata: object = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop', namespace: 'group-acme', uid: 'u1', ...metadata },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status,
  };
}

function reconcilerIn(cluster: FakeCluster, environments: Environment[], builders = cluster.builders) {
  const woken: string[] = [];
  const now = () => cluster.now;
  const enqueue = (key: string) => void woken.push(key);
  const pool = new BuilderPool({ builders, settings: SETTINGS, enqueue, logger: pino({ enabled: false }), now });
  const reconciler = new BuilderReconciler({
    builders,
    pool,
    environments: {
      get: (key) => environments.find(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}` === key),
      byIndex: (_index, namespace) => environments.filter(({ metadata }) => metadata.namespace === namespace),
    },
    idleSeconds: SETTINGS.idleSeconds,
    now,
  });
  return { reconciler, pool, woken };
}

const group = groupBuilder('acme');
const ephemeral = ephemeralBuilder('acme', { environment: 'shop', environmentUid: 'u1', number: 3 });

/** Returns what happens to a group's builder that has been running since 00:00. */
async function outcome(minutes: number, environments: Environment[], change: object = {}) {
  const cluster = new FakeCluster();
  await cluster.builders.start(group);
  cluster.becomesReady(group.name);
  cluster.passes(minutes * 60);
  cluster.calls.length = 0;
  const { reconciler } = reconcilerIn(cluster, environments, cluster.builderSet(change));
  const { requeueAfterMs } = await reconciler.reconcile(`builders/${group.name}`);
  return cluster.calls[0] ?? requeueAfterMs;
}

describe('a group’s builder', () => {
  const stopped = 'delete Pod group-acme';

  test.each([
    ['is stopped ten minutes after its start if nothing was built', 10, [], {}, stopped],
    ['is requeued for that time', 4, [], {}, 360_000],
    ['is stopped ten minutes after the last build', 16, [environment(over)], {}, stopped],
    ['keeps running until then', 15, [environment(over)], {}, 60_000],
    ['keeps running during a build of any length', 500, [environment(over), environment(running)], {}, undefined],
    ['keeps running for a build that is about to start', 500, [environment(pending)], {}, undefined],
    ['is stopped while a build only rolls out', 15, [environment(rollingOut)], {}, stopped],
    ['is stopped while another group builds', 10, [environment(running, { namespace: 'group-b' })], {}, stopped],
    ['is stopped at once if it is out of date', 1, [environment(over)], { image: 'buildkit:2' }, stopped],
    [
      'keeps running during a build even if it is out of date',
      1,
      [environment(running)],
      { image: 'buildkit:2' },
      undefined,
    ],
    [
      'keeps running until buildctl has disconnected even if it is out of date',
      5,
      [environment(rollingOut)],
      { image: 'buildkit:2' },
      30_000,
    ],
  ])('%s', async (_name, minutes, environments, change, expected) => {
    expect(await outcome(minutes, environments, change)).toBe(expected);
  });

  test('reports who waits for it when it is ready', async () => {
    const cluster = new FakeCluster();
    const { reconciler, pool, woken } = reconcilerIn(cluster, [environment(running)]);
    const build = { environment: 'shop', environmentUid: 'u1', number: 3 };
    await pool.acquire({ group: 'acme', trusted: true, build }).catch(() => undefined);
    await reconciler.reconcile(`builders/${group.name}`);
    expect(woken).toEqual([]);
    cluster.becomesReady(group.name);
    await reconciler.reconcile(`builders/${group.name}`);
    expect(woken).toEqual(['group-acme/shop']);
  });

  test('starts with new certificates when its own near their end', async () => {
    const cluster = new FakeCluster();
    await cluster.builders.start(group);
    const before = cluster.builders.secret(group.name)?.data;
    cluster.passes(300 * 24 * 3600);
    const { reconciler } = reconcilerIn(cluster, [environment(over)]);
    await reconciler.reconcile(`builders/${group.name}`);
    cluster.collectGarbage();
    await cluster.builders.start(group);
    const after = cluster.builders.secret(group.name)?.data;
    expect(after?.['ca.crt']).not.toBe(before?.['ca.crt']);
    expect(after?.['client.key']).not.toBe(before?.['client.key']);
  });
});

describe('an ephemeral builder', () => {
  const now = Date.parse('2026-01-01T00:06:00Z');
  const rolledOutAfter = (ms: number) => ({
    build: { ...building, images: [], rolloutStartedAt: new Date(now + ms).toISOString() },
  });

  test.each([
    ['stays while its build runs', environment(running), true],
    ['stays until buildctl has taken its leave', environment(rolledOutAfter(-29_999)), true],
    ['is deleted when the build only rolls out', environment(rolledOutAfter(-30_000)), false],
    ['is deleted when the build has ended', environment(over), false],
    ['is deleted when another build runs', environment({ build: { ...building, number: 4 } }), false],
    ['is deleted with its Environment', undefined, false],
    [
      'is deleted while the Environment is being deleted',
      environment(running, { deletionTimestamp: startedAt }),
      false,
    ],
    ['is deleted when another Environment has the name', environment(running, { uid: 'u2' }), false],
  ])('%s', async (_name, object, stays) => {
    const cluster = new FakeCluster();
    await cluster.builders.start(ephemeral);
    cluster.now = new Date(now);
    const { reconciler } = reconcilerIn(cluster, object ? [object] : []);
    await reconciler.reconcile(`builders/${ephemeral.name}`);
    cluster.collectGarbage();
    expect(cluster.objects.size > 0).toBe(stays);
  });
});

test.each([
  ['a group', group],
  ['one build', ephemeral],
])('restores the policy of the builder of %s when it is deleted', async (_whose, identity) => {
  const cluster = new FakeCluster();
  await cluster.builders.start(identity);
  cluster.becomesReady(identity.name);
  const policy = `NetworkPolicy builders/${identity.name}`;
  const made = cluster.objects.get(policy);
  cluster.objects.delete(policy);
  cluster.calls.length = 0;
  const { reconciler } = reconcilerIn(cluster, [environment(running)]);
  await reconciler.reconcile(`builders/${identity.name}`);
  await reconciler.reconcile(`builders/${identity.name}`);
  expect(cluster.calls).toEqual([`apply NetworkPolicy ${identity.name}`]);
  expect(cluster.objects.get(policy)).toMatchObject({ spec: made && 'spec' in made ? made.spec : 'none' });
});
