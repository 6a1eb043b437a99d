import { expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { scopeOf as environmentScope } from '../testing/scope.ts';
import { finalStatus } from '../status/final-status.ts';
import { enteredNamespace } from '../scope/contents.ts';
import type { Revision } from '../revision/revision.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { Seeding, type SeedingOptions } from './seeding.ts';
import type { CopyPhase } from '../../reusable/volume-copies.ts';
import type { VolumeCopy } from '../../reusable/volume-copy.ts';

const now = new Date('2026-01-01T00:00:00Z');
const published = {
  metadata: { uid: 'r1' },
  status: {
    publication: 'p1',
    volumes: [
      { name: 'data', claim: 'copy-of-data', size: '2Gi' },
      { name: 'gone', claim: 'copy-of-gone', size: '1Gi' },
    ],
  },
};

function scopeWith(
  gitRef: GitRef,
  status: EnvironmentStatus = {},
  trustForks = false,
  namespaceUid = 'n1',
): EnvironmentScope {
  const environment: Environment = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
    spec: { repository: 'shop', gitRef, active: true, buildOnCreate: true },
    status,
  };
  const scope = environmentScope(environment, () => now, { trustForks });
  return scope.with(enteredNamespace(scope.status, namespaceUid));
}

function revision(from?: string): Revision {
  const volumes = [{ name: 'data', size: '1Gi' }, { name: 'fresh' }];
  const serviceFile = { services: [], publicRoutes: [], volumes, bundles: [], ...(from !== undefined && { from }) };
  return { id: 'v', commit: 'c', serviceFile, images: [], warnings: [], secrets: [] };
}

interface World {
  quota: Record<string, string>;
  phase: CopyPhase | Error;
  isPublished: boolean;
}

/** Takes one step; returns the requested copies, the removed ones, the error and the report. */
async function step(scope: EnvironmentScope, from: string | undefined, world: Partial<World> = {}) {
  const asked: VolumeCopy[] = [];
  const dropped: string[] = [];
  const { phase = 'done', isPublished = true, quota = { 'requests.storage': '100Gi' } } = world;
  const parts = {
    reusables: {
      whilePublished: (_repository: object, _label: string, work: (object: typeof published) => Promise<unknown>) =>
        isPublished ? work(published) : Promise.resolve(undefined),
    },
    copies: {
      advance: (copy: VolumeCopy) => {
        asked.push(copy);
        return phase instanceof Error ? Promise.reject(phase) : Promise.resolve(phase);
      },
      dropAllFor: (uid: string, namespace: string) => Promise.resolve(dropped.push(`${uid} in ${namespace}`)),
      takeBack: (_namespace: string, name: string) => Promise.resolve(dropped.push(name)),
    },
    statuses: { write: () => Promise.resolve() },
    volumes: { size: '1Gi' },
    quota,
  };
  const result = await new Seeding(parts as unknown as SeedingOptions).advance(scope, revision(from));
  const after = scope.with(result);
  const reported = finalStatus(after).conditions?.find(({ type }) => type === 'Seeded');
  return {
    asked,
    dropped,
    after,
    error: result.failure,
    reported: reported && `${reported.status} ${reported.reason}`,
  };
}

const main: GitRef = { name: 'main', type: 'branch' };

test('copies a volume of the reusable environment, with the larger of both sizes', async () => {
  const scope = scopeWith(main);
  const { asked, error, reported, after } = await step(scope, 'base');
  expect([error, reported]).toEqual([undefined, 'True Copied']);
  expect(asked).toMatchObject([
    {
      source: { namespace: 'reusable-acme', name: 'copy-of-data' },
      target: { namespace: scope.namespace, name: 'volume-data', labels: scope.labels },
      size: '2Gi',
    },
  ]);
  expect(after.status.seed).toMatchObject({ result: 'copied', publication: 'p1' });
  expect((await step(after, 'base')).asked).toEqual([]);
});

test('sets up nothing while volumes are copied, all from what the label pointed to at first', async () => {
  const { error, reported, after } = await step(scopeWith(main), 'base', { phase: 'copying' });
  expect(error).toBeInstanceOf(Waiting);
  expect(reported).toBe('Unknown Copying');
  expect((await step(after, 'base', { isPublished: false })).reported).toBe('True Copied');
});

/** What is in progress for the environment, and what may have been copied. */
const brokenOff = ['u1 in reusable-acme', 'volume-data', 'volume-gone'];

test.each<[string, boolean, string | undefined, string | undefined]>([
  ['to a service file without a label', true, undefined, undefined],
  ['to a service file with another label', true, 'other', 'False NotFound'],
  ['to code that is not trusted', false, 'base', 'False NotTrusted'],
])('cancels copies when the ref moves %s, and removes them', async (_, trusted, from, expected) => {
  const ref: GitRef = trusted ? main : { name: '7', type: 'pull request' };
  const { after: before } = await step(scopeWith(ref, {}, true), 'base', { phase: 'copying' });
  expect(before.status.seed?.result).toBe('running');
  const scope = scopeWith(ref, before.status, trusted);
  const { dropped, error, reported, after } = await step(scope, from, { isPublished: false });
  expect([dropped, error, reported]).toEqual([brokenOff, undefined, expected]);
  expect(after.status.seed).toBeUndefined();
  expect((await step(after, from, { isPublished: false })).dropped).toEqual([]);
});

test.each<[string, GitRef, string | undefined, boolean, string | undefined]>([
  ['no service file with a label', main, undefined, true, undefined],
  ['a label that nothing has been published under', main, 'base', false, 'False NotFound'],
  ['a pull request that may come from a fork', { name: '7', type: 'pull request' }, 'base', true, 'False NotTrusted'],
])('starts with empty volumes: %s', async (_, gitRef, from, isPublished, expected) => {
  const { asked, error, reported } = await step(scopeWith(gitRef), from, { isPublished });
  expect([asked, error, reported]).toEqual([[], undefined, expected]);
});

test('reports a failed copy, sets up nothing, and starts again on request', async () => {
  const { error, dropped, reported, after } = await step(scopeWith(main), 'base', {
    phase: new Stalled('CopyFailed', 'disk full'),
  });
  expect(error).toMatchObject({ reason: 'CopyFailed' });
  expect(String(error)).toContain('disk full. Request a rebuild');
  expect(dropped).toEqual(brokenOff);
  expect(reported).toBe('False CopyFailed');
  expect((await step(after, 'base')).reported).toBe('True Copied');
});

test('does not copy what exceeds the quota of the environment', async () => {
  const { asked, error, reported } = await step(scopeWith(main), 'base', {
    quota: { 'requests.storage': '1Gi' },
  });
  expect(asked).toEqual([]);
  expect(error).toBeInstanceOf(Stalled);
  expect(reported).toBe('False QuotaExceeded');
});

test('makes separate copies for each contents', async () => {
  const first = await step(scopeWith(main), 'base');
  const rebuilt = scopeWith(main, {}, false, 'n2');
  expect((await step(rebuilt, 'base')).asked[0]?.id).not.toBe(first.asked[0]?.id);
});
