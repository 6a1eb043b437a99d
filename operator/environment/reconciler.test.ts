import { describe, expect, test } from '@jest/globals';
import type { BuildStatus, Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { BuiltImages } from '../build/builder.ts';
import { Stalled } from '../errors.ts';
import { SourceUnreachableError } from '../source/errors.ts';
import { BuildRun } from './build-run.ts';
import { EnvironmentReconciler, type EnvironmentParts } from './reconciler.ts';
import type { EnvironmentScope } from './scope.ts';
import type { Version } from './version.ts';
import type { RolloutProgress } from './workload-set.ts';

const now = '2026-01-01T01:00:00.000Z';
const activation = {
  active: true,
  since: '2026-01-01T00:00:00.000Z',
  reason: 'Spec',
  specActive: true,
  buildPending: false,
} as const;
const startedAt = '2026-01-01T00:00:10.000Z';
const good: BuildStatus = { number: 1, result: 'succeeded', commit: 'c1', startedAt, images: [] };
const running = { number: 2, result: 'running', commit: 'c2', startedAt } as const;
const contents = { state: 'created', namespaceUID: 'ns', commit: 'c1', activation } as const;

function environment(status: EnvironmentStatus, metadata: object = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      name: 'shop-main',
      namespace: 'group-acme',
      uid: 'u1',
      generation: 1,
      finalizers: ['coppice.dev/cleanup'],
      ...metadata,
    },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: structuredClone(status),
  };
}

interface World {
  /** What the ref's newest commit says, or why nobody knows. */
  plan: () => Promise<Version>;
  build: () => Promise<BuiltImages | undefined>;
  rollOut: () => Promise<RolloutProgress>;
  /** Whether the namespace is gone as soon as it is deleted. */
  isGone: boolean;
  namespaceUid: string;
}

const version = (commit: string): Version => ({
  commit,
  serviceFile: { services: [], publicRoutes: [] },
  images: [],
  warnings: [],
});
const up: RolloutProgress = { services: [{ name: 'web', ready: true }], done: true, waitingFor: [] };
const down: RolloutProgress = { services: [{ name: 'web', ready: false }], done: false, waitingFor: ['web: crash'] };

/** A reconciler in a made-up world; `calls` tells in which order it acted. */
function reconcilerIn(object: Environment, world: Partial<World> = {}) {
  const calls: string[] = [];
  const does =
    <T>(name: string, result: T) =>
    () => {
      calls.push(name);
      return Promise.resolve(result);
    };
  const plan = world.plan ?? (() => Promise.resolve(version('c2')));
  const builder = {
    build: () => {
      calls.push('build');
      return world.build ? world.build() : Promise.resolve({ images: [], sizeBytes: 0 });
    },
    cleanUp: does('cleanUp', undefined),
  };
  const session = {
    note: () => Promise.resolve(),
    end: (result: string) => {
      calls.push(`log ends: ${result}`);
      return Promise.resolve();
    },
  };
  const parts = {
    client: { patch: does('finalizer removed', { metadata: {} }) },
    environments: { get: () => object },
    repositories: { access: () => Promise.resolve({ origin: 'http://git/x', credentials: undefined }) },
    contents: {
      ensure: (scope: EnvironmentScope) => Promise.resolve(scope.entered(world.namespaceUid ?? 'ns')),
      remove: does('remove', world.isGone ?? false),
    },
    planner: { plan, newestCommit: async () => (await plan()).commit },
    versions: {
      find: (_place: object, commit: string) => Promise.resolve(version(commit)),
      removeOthers: () => Promise.resolve(),
    },
    workloads: {
      setUp: does('setUp', undefined),
      rollOut: () => {
        calls.push('rollOut');
        return world.rollOut ? world.rollOut() : Promise.resolve(up);
      },
      prune: does('prune', undefined),
    },
    builds: new BuildRun(builder as never, { open: () => session, close: () => undefined } as never),
    removal: { removeObjectIfShared: () => Promise.resolve(false) },
    statuses: {
      write: (written: Environment, status: EnvironmentStatus) => {
        calls.push(`status: ${status.state ?? ''}`);
        written.status = structuredClone(status);
        object.status = structuredClone(status);
        return Promise.resolve();
      },
    },
    settings: {
      environmentsUrl: new URL('http://env.localhost:8080'),
      ingressClassName: undefined,
      registry: 'registry',
      rolloutDeadlineSeconds: 45,
    },
    now: () => new Date(now),
  };
  return { reconciler: new EnvironmentReconciler(parts as unknown as EnvironmentParts), calls };
}

function condition(object: Environment, type: string) {
  const { status, reason } = object.status?.conditions?.find((one) => one.type === type) ?? {};
  return `${status ?? 'none'} ${reason ?? ''}`;
}

test('a new environment passes through every state', async () => {
  const object = environment({});
  const { reconciler, calls } = reconcilerIn(object);
  await reconciler.reconcile('key');
  const states = calls.filter((call) => call.startsWith('status: '));
  expect([...new Set(states)]).toEqual(['status: empty', 'status: created', 'status: building', 'status: built']);
  expect(condition(object, 'Ready')).toBe('True Built');
  expect(object.status?.deployed?.commit).toBe('c2');
});

test('a second look at what is built changes nothing and asks the Git host nothing', async () => {
  const object = environment({});
  await reconcilerIn(object).reconciler.reconcile('key');
  const before = structuredClone(object.status);
  await reconcilerIn(object, { plan: () => Promise.reject(new Error('asked')) }).reconciler.reconcile('key');
  expect(object.status).toEqual(before);
});

describe('a build', () => {
  test('that fails leaves what is deployed running, and cleans up only when that is written', async () => {
    const object = environment({ ...contents, build: running, deployed: good });
    const { reconciler, calls } = reconcilerIn(object, {
      build: () => Promise.reject(new Stalled('BuildFailed', 'exit code 1')),
    });
    await reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'built', build: { result: 'failed' }, deployed: { number: 1 } });
    expect(condition(object, 'Stalled')).toBe('True BuildFailed');
    expect(calls.slice(-3)).toEqual(['prune', 'status: built', 'cleanUp']);
  });

  test('whose services do not come up in time fails with their trouble', async () => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:59:00.000Z' };
    const object = environment({ ...contents, build: rolledOut });
    await reconcilerIn(object, { rollOut: () => Promise.resolve(down) }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({
      state: 'created',
      build: { result: 'failed', message: 'not up after 45 s: web: crash' },
    });
    expect(condition(object, 'Built')).toBe('False RolloutFailed');
  });

  test('whose services may still come up is waited for until a time that is told', async () => {
    const rolledOut = { ...running, images: [], rolloutStartedAt: '2026-01-01T00:59:30.000Z' };
    const object = environment({ ...contents, build: rolledOut });
    const result = await reconcilerIn(object, { rollOut: () => Promise.resolve(down) }).reconciler.reconcile('key');
    expect(result).toEqual({ requeueAfterMs: 15_000 });
    expect(object.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'until 2026-01-01T01:00:15Z',
    );
  });

  test('that Kubernetes refuses for good fails instead of trying forever', async () => {
    const object = environment({ ...contents, build: { ...running, images: [] } });
    const refused = new ApiError('PATCH /x', 422, 'Invalid', 'spec.x is not allowed');
    await reconcilerIn(object, { rollOut: () => Promise.reject(refused) }).reconciler.reconcile('key');
    expect(object.status?.build).toMatchObject({ result: 'failed', message: expect.stringContaining('not allowed') });
  });

  test.each([
    ['cannot be asked', () => Promise.reject(new SourceUnreachableError('away')), 2],
    ['has lost the ref', () => Promise.reject(new Stalled('RefNotFound', 'gone')), 2],
    ['still has its commit', () => Promise.resolve(version('c2')), 2],
    ['has moved on', () => Promise.resolve(version('c3')), 3],
  ])('asked for while one runs and the Git host %s: build %#', async (_what, plan, number) => {
    const pending = { ...activation, buildPending: true };
    const object = environment({ ...contents, activation: pending, build: running });
    await reconcilerIn(object, { plan, build: () => Promise.resolve(undefined) }).reconciler.reconcile('key');
    expect(object.status?.build).toMatchObject({ number, result: 'running' });
    expect(object.status?.activation?.buildPending).toBe(false);
  });
});

describe('contents', () => {
  test('whose namespace somebody deleted are built again', async () => {
    const object = environment({ ...contents, state: 'built', build: good, deployed: good });
    await reconcilerIn(object, { namespaceUid: 'another' }).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'built', namespaceUID: 'another', build: { number: 2 } });
  });

  test('that were asked to go are there until they are gone', async () => {
    const annotations = { [requestAnnotation('delete')]: 'now' };
    const object = environment({ ...contents, state: 'built', deployed: good }, { annotations });
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(object.status?.state).toBe('built');
    expect(condition(object, 'Reconciling')).toBe('True RemovingContents');
    await reconcilerIn(object, { isGone: true }).reconciler.reconcile('key');
    expect(object.status?.state).toBe('empty');
    expect(object.status?.deployed).toBeUndefined();
    expect(condition(object, 'Ready')).toBe('True Empty');
  });

  test('that are wanted anew wait for the former ones to go, without a look over and over', async () => {
    const annotations = {
      [requestAnnotation('delete')]: '2026-01-01T00:10:00Z',
      [requestAnnotation('create')]: '2026-01-01T00:20:00Z',
    };
    const object = environment({ ...contents, state: 'built', deployed: good }, { annotations });
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(await reconcilerIn(object).reconciler.reconcile('key')).toEqual({ requeueAfterMs: 10_000 });
    expect(await reconcilerIn(object, { isGone: true }).reconciler.reconcile('key')).toEqual({ requeueAfterMs: 1 });
    expect(object.status?.state).toBe('empty');
    await reconcilerIn(object).reconciler.reconcile('key');
    expect(object.status).toMatchObject({ state: 'created', activation: { active: true, reason: 'CreateRequest' } });
  });

  test('that cannot be set up say so, and still expire', async () => {
    const object = environment({}, {});
    object.spec = { ...object.spec, buildOnCreate: false, ttlSeconds: 60 };
    const plan = () => Promise.reject(new Stalled('ServiceFileInvalid', 'line 3'));
    const result = await reconcilerIn(object, { plan }).reconciler.reconcile('key');
    expect(condition(object, 'Stalled')).toBe('True ServiceFileInvalid');
    expect(result).toEqual({ requeueAfterMs: 60_000 });
  });
});

describe('an object that is deleted', () => {
  const deletionTimestamp = '2026-01-01T00:59:00Z';

  test('ends its build once, and goes when its namespace is gone', async () => {
    const object = environment({ ...contents, build: running }, { deletionTimestamp });
    const { reconciler, calls } = reconcilerIn(object);
    await reconciler.reconcile('key');
    await reconciler.reconcile('key');
    expect(calls.filter((call) => call === 'log ends: cancelled')).toHaveLength(1);
    expect(calls).not.toContain('finalizer removed');
    const last = reconcilerIn(object, { isGone: true });
    await last.reconciler.reconcile('key');
    expect(last.calls).toContain('finalizer removed');
  });

  test('goes though it does not fit its schema', async () => {
    const object = environment({}, { deletionTimestamp });
    object.spec = { ...object.spec, gitRef: { name: 'a..b', type: 'branch' } };
    const { reconciler, calls } = reconcilerIn(object, { isGone: true });
    await reconciler.reconcile('key');
    expect(calls).toContain('finalizer removed');
  });
});

test('an object that does not fit its schema is told so', async () => {
  const object = environment({});
  object.spec = { ...object.spec, gitRef: { name: 'a..b', type: 'branch' } };
  await expect(reconcilerIn(object).reconciler.reconcile('key')).rejects.toThrow(Stalled);
  expect(condition(object, 'Stalled')).toBe('True Invalid');
});
