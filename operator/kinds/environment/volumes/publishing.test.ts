import { describe, expect, test } from '@jest/globals';
import { REUSABLE_ANNOTATIONS } from '../../reusable/names.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import type { Repository } from '../../../../crds/repository.ts';
import { sampleActivation } from '../../../../crds/testing/activation.ts';
import type { Pod } from '../../../../kubernetes/resource-type.ts';
import { SERVICE_DEFAULTS, type Mount } from '../../../../service-file/schema.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { finalStatus } from '../status/final-status.ts';
import { scopeOf as environmentScope } from '../testing/scope.ts';
import type { Revision } from '../revision/revision.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { PhaseResult } from '../scope/phase.ts';
import { Publishing, type PublishingOptions } from './publishing.ts';
import type { CopyPhase } from '../../reusable/volume-copies.ts';

const build: BuildStatus = {
  number: 3,
  result: 'succeeded',
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: '2026-01-01T00:01:00Z',
  images: [{ service: 'db', image: 'r/acme/shop/db@sha256:1' }],
};
const main: GitRef = { name: 'main', type: 'branch' };

function scopeOf(
  gitRef: GitRef = main,
  status: EnvironmentStatus = {},
  now = '2026-01-01T00:02:00Z',
): EnvironmentScope {
  const environment: Environment = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
    spec: { repository: 'shop', gitRef, active: true, buildOnCreate: true },
    status: { state: 'built', namespaceUID: 'n1', deployed: build, ...status },
  };
  return environmentScope(environment, () => new Date(now));
}

function revision(reusable?: string): Revision {
  const mounts: Mount[] = [{ type: 'volume', volume: 'data', target: '/data', readOnly: false }];
  const services = [
    { ...SERVICE_DEFAULTS, name: 'db', image: 'db', mounts },
    { ...SERVICE_DEFAULTS, name: 'web', image: 'web' },
  ];
  const reader = {
    ...SERVICE_DEFAULTS,
    name: 'reader',
    image: 'web',
    mounts: mounts.map((one) => ({ ...one, readOnly: true })),
  };
  const serviceFile = { services: [...services, reader], publicRoutes: [], volumes: [{ name: 'data' }], bundles: [] };
  return {
    id: 'v',
    commit: 'c',
    serviceFile: { ...serviceFile, ...(reusable !== undefined && { reusable }) },
    images: [],
    warnings: [],
    secrets: [],
  };
}

interface World {
  phase: CopyPhase | Error;
  /** State of a pod that uses the volume. */
  pod: string;
  isGoing: boolean;
  isSuperseded: boolean;
  /** Sizes of what the group has published before. */
  stored: string[];
}

/** Takes one step; returns what it did, what it reported, and which services are stopped. */
async function step(scope: EnvironmentScope, label: string | undefined, world: Partial<World> = {}) {
  const { phase = 'done', pod, isGoing = false, isSuperseded = false, stored = [] } = world;
  const calls: string[] = [];
  const spec: Pod['spec'] = {
    containers: [],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'volume-data' } }],
  };
  const pods: Pod[] =
    pod === undefined ? [] : [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec, status: { phase: pod } }];
  const repository: Pick<Repository, 'spec'> = {
    spec: { type: 'generic', reusable: [{ label: 'base', refs: [{ name: 'main', type: 'branch' }] }] },
  };
  const object = { metadata: { namespace: 'group-acme', name: 'shop-base', uid: 'r1' } };
  const parts = {
    repositories: { get: () => repository },
    volumeClaims: {
      get: () => ({ metadata: { name: 'volume-data' }, status: { capacity: { storage: '2Gi' } } }),
      byIndex: () =>
        stored.map((storage, index) => ({
          metadata: { name: `stored-${index}`, annotations: { [REUSABLE_ANNOTATIONS.builtAt]: 'then' } },
          spec: { resources: { requests: { storage } } },
        })),
    },
    pods: { byIndex: () => pods },
    reusables: {
      ensure: () => (isGoing ? Promise.reject(new Waiting('ReusableGoing', 'going', 5)) : Promise.resolve(object)),
      publish: (key: string, content: { volumes: { name: string; size: string }[] }) => {
        calls.push(`publish ${key}: ${content.volumes.map(({ name, size }) => `${name} ${size}`).join()}`);
        return Promise.resolve(!isSuperseded);
      },
    },
    store: { ensure: () => Promise.resolve('reusable-acme') },
    copies: {
      shouldStart: () => phase === 'copying',
      advance: (_copy: object, canRead: boolean) => {
        calls.push(`copy${canRead ? '' : ' when it is quiet'}`);
        return phase instanceof Error ? Promise.reject(phase) : Promise.resolve(phase);
      },
      drop: () => {
        calls.push('drop');
        return Promise.resolve();
      },
    },
    statuses: { write: () => Promise.resolve() },
    rolloutDeadlineSeconds: 300,
    storeQuota: { 'requests.storage': '10Gi' },
  };
  const result = await new Publishing(parts as unknown as PublishingOptions).advance(scope, revision(label));
  const after = scope.with(result);
  const reported = finalStatus(after).conditions?.find(({ type }) => type === 'Published');
  return {
    calls,
    after,
    stopped: [...(result.observed?.stopped ?? [])],
    reported: reported && `${reported.status} ${reported.reason}`,
    requeueAfterMs: result.requeueAfterMs,
  };
}

test.each<[string, Partial<World>, string[], string[], string]>([
  [
    'while a pod has the volume the services that mount it are stopped',
    { phase: 'copying', pod: 'Running' },
    ['copy when it is quiet'],
    ['db', 'reader'],
    'Unknown Publishing',
  ],
  [
    'a pod that has ended has no volume',
    { phase: 'copying', pod: 'Succeeded' },
    ['copy'],
    ['db', 'reader'],
    'Unknown Publishing',
  ],
  ['once the copy is whole it runs again', { phase: 'moving', pod: 'Running' }, ['copy'], [], 'Unknown Publishing'],
  ['publishes complete copies', {}, ['copy', 'publish group-acme/shop-base: data 2Gi'], [], 'True Published'],
  [
    'is not reported if nothing was published',
    { isSuperseded: true },
    ['copy', 'publish group-acme/shop-base: data 2Gi', 'drop'],
    [],
    'False Superseded',
  ],
  [
    'copies nothing if the store has no room',
    { phase: 'copying', pod: 'Running', stored: ['9Gi'] },
    ['drop'],
    [],
    'False QuotaExceeded',
  ],
  ['removes a failed copy', { phase: new Stalled('CopyFailed', 'full') }, ['copy', 'drop'], [], 'False CopyFailed'],
  [
    'starts again after it had to wait',
    { phase: new Waiting('X', 'x', 5) },
    ['copy', 'drop'],
    [],
    'Unknown Publishing',
  ],
  ['copies nothing while the previous object is being deleted', { isGoing: true }, ['drop'], [], 'Unknown Publishing'],
])('%s', async (_, world, calls, stopped, reported) => {
  expect(await step(scopeOf(), 'base', world)).toMatchObject({ calls, stopped, reported });
});

test('publishes each build once, and lets builds wait meanwhile', async () => {
  const publishing = new Publishing({} as unknown as PublishingOptions);
  const { after: copying } = await step(scopeOf(), 'base', { phase: 'copying' });
  expect(publishing.isUnderWay(copying)).toBe(true);
  const { after, reported } = await step(copying, 'base');
  expect(reported).toBe('True Published');
  expect(publishing.isUnderWay(after)).toBe(false);
  expect((await step(after, 'base')).calls).toEqual([]);
  const next = after.with({ status: { deployed: { ...build, number: 4 } } });
  expect((await step(next, 'base')).calls).toHaveLength(2);
});

test.each<[string, GitRef, string | undefined, string | undefined]>([
  ['a service file without a label', main, undefined, undefined],
  ['another label', main, 'other', 'False RefNotNamed'],
  ['another ref', { name: 'feature', type: 'branch' }, 'base', 'False RefNotNamed'],
  ['a fork', { name: '7', type: 'pull request' }, 'base', 'False NotTrusted'],
])('publishes nothing of %s', async (_, gitRef, label, reported) => {
  expect(await step(scopeOf(gitRef), label)).toMatchObject({ calls: [], stopped: [], reported });
});

test('cancels a publication that is no longer permitted', async () => {
  const publication = { label: 'base', build: 3, result: 'running' } as const;
  const scope = scopeOf({ name: 'feature', type: 'branch' }, { publication });
  const { after, ...done } = await step(scope, 'base');
  expect(done).toMatchObject({ calls: ['drop'], stopped: [], reported: 'False RefNotNamed' });
  expect(after.status.publication).toBeUndefined();
});

describe('a build that waits for a publication starts when it is', () => {
  const publication = { label: 'base', build: 3, result: 'running' } as const;
  const waiting = (gitRef: GitRef) =>
    scopeOf(gitRef, { publication, activation: sampleActivation({ since: build.startedAt, buildPending: true }) });

  test.each<[string, (scope: EnvironmentScope) => PhaseResult | Promise<PhaseResult>]>([
    ['done', (scope) => step(scope, 'base')],
    ['failed', (scope) => step(scope, 'base', { phase: new Stalled('CopyFailed', 'full') })],
    ['no longer requested', (scope) => step(scope, undefined)],
    [
      'of a revision that is no longer known',
      (scope) => new Publishing({} as unknown as PublishingOptions).giveUp(scope),
    ],
  ])('%s', async (_, end) => {
    const scope = waiting(main);
    expect((await end(scope)).requeueAfterMs).toBe(1);
  });

  test('no longer permitted', async () => {
    const scope = waiting({ name: 'feature', type: 'branch' });
    expect((await step(scope, 'base')).requeueAfterMs).toBe(1);
  });

  test('not still in progress', async () => {
    const scope = waiting(main);
    expect((await step(scope, 'base', { phase: 'copying' })).requeueAfterMs).toBeUndefined();
  });
});

test('does not keep services stopped forever because a pod keeps a volume', async () => {
  const first = await step(scopeOf(), 'base', { phase: 'copying', pod: 'Running' });
  expect(first).toMatchObject({
    stopped: ['db', 'reader'],
    requeueAfterMs: 310_000,
  });
  const status = finalStatus(first.after);
  const soon = scopeOf(main, structuredClone(status), '2026-01-01T00:07:09Z');
  expect((await step(soon, 'base', { phase: 'copying', pod: 'Running' })).stopped).toEqual(['db', 'reader']);
  const late = await step(scopeOf(main, structuredClone(status), '2026-01-01T00:07:10Z'), 'base', {
    phase: 'copying',
    pod: 'Running',
  });
  expect(late).toMatchObject({
    calls: ['drop'],
    stopped: [],
    reported: 'False VolumesInUse',
  });
  expect(finalStatus(late.after).conditions).toContainEqual(
    expect.objectContaining({
      message: expect.stringContaining('still use its volumes 310 s after their services were stopped: p.'),
    }),
  );
  expect(late.after.status.publication).toEqual({ label: 'base', build: 3, result: 'failed' });
  const quiet = await step(scopeOf(main, structuredClone(status), '2026-01-01T00:20:00Z'), 'base', {
    phase: 'copying',
  });
  expect(quiet.calls).toEqual(['copy']);
  expect(quiet.after.status.publication).not.toHaveProperty('stoppingSince');
});
