import { expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import type { Repository } from '../../../../crds/repository.ts';
import type { ReusableEnvironment } from '../../../../crds/reusable-environment.ts';
import { Decisions } from './decisions.ts';
import { scheduleOf } from './schedule.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { scopeOf } from '../testing/scope.ts';

type Mode = NonNullable<Repository['spec']['scheduledRebuild']>['mode'];

const slot = Date.parse('2026-11-21T02:00:00Z');
const minute = 60_000;
const day = 24 * 3600_000;

/** An environment that was built long before the slot. */
function environment(name: string, created: string): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { namespace: 'group-acme', name, uid: `uid-${name}`, creationTimestamp: created, generation: 1 },
    spec: {
      repository: 'shop',
      gitRef: { name: 'main', type: 'branch' },
      active: true,
      buildOnCreate: true,
    },
    status: {
      state: 'built',
      namespaceUID: 'n',
      activation: {
        active: true,
        since: '2026-11-18T00:00:00Z',
        reason: 'Spec',
        specActive: true,
        buildPending: false,
      },
    },
  };
}

const oldest = environment('shop-main', '2026-11-01T00:00:00Z');
const clone = environment('shop-main-2', '2026-11-02T00:00:00Z');

/** An environment that has tried to publish `base`. */
function publisher(result: 'succeeded' | 'failed'): Environment {
  return { ...oldest, status: { ...oldest.status, publication: { label: 'base', build: 2, result } } };
}

/** The ReusableEnvironment `base` as this environment published it. */
function publishedFrom({ metadata: { name, uid = '' }, spec: { gitRef } }: Environment): ReusableEnvironment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'ReusableEnvironment',
    metadata: { namespace: 'group-acme', name: 'shop-base' },
    spec: { repository: 'shop', label: 'base' },
    status: { publication: 'p', from: { environment: name, environmentUID: uid, gitRef, build: 1 } },
  };
}

/** Reconciles the environment a minute after its own slot. */
async function decide(
  mode: Mode,
  checked: Environment,
  base?: ReusableEnvironment,
): Promise<{ scope: EnvironmentScope; result: PhaseResult }> {
  const settings = { mode, hour: '02:00', timeZone: 'UTC' };
  const { last } = scheduleOf(settings, checked.metadata.uid ?? '', new Date(slot + 59 * minute)) ?? {};
  const now = new Date((last?.getTime() ?? 0) + minute);
  const decisions = new Decisions({
    environments: { byIndex: () => [oldest, clone] },
    configurations: { defaultTtlSeconds: () => 0, scheduledRebuild: () => settings },
    removal: { removeObject: () => Promise.resolve(false) },
    reusables: { published: (_repository, label) => (label === 'base' ? base : undefined) },
  });
  const setting = `${mode} 02:00 UTC`;
  const known = { ...checked.status, schedule: { setting, since: '2026-11-18T00:00:00Z' } };
  const scope = scopeOf({ ...checked, status: known }, () => now);
  const result = await decisions.decide(scope);
  return { scope: scope.with(result), result };
}

test.each<[string, Mode, Environment, ReusableEnvironment | undefined]>([
  ['a clone, where clones are not rebuilt', 'notclones', clone, undefined],
  ['an unpublished environment, in the mode reusables', 'reusables', oldest, undefined],
  ['a failed publication', 'reusables', publisher('failed'), undefined],
  ['a publication whose label was deleted', 'reusables', publisher('succeeded'), undefined],
  [
    'a publication whose label another environment has taken over',
    'reusables',
    publisher('succeeded'),
    publishedFrom(clone),
  ],
])('does not requeue before the next slot after a slot was handled: %s', async (_what, mode, checked, base) => {
  const { scope, result } = await decide(mode, checked, base);
  expect(scope.status.activation?.reason).toBe('Spec');
  expect(scope.status.schedule).not.toHaveProperty('next');
  expect(result.requeueAfterMs).toBe(day - minute);
});

test.each<[string, Mode, Environment, ReusableEnvironment | undefined]>([
  ['the oldest of its ref', 'notclones', oldest, undefined],
  ['a published environment', 'reusables', publisher('succeeded'), publishedFrom(oldest)],
  ['a published environment whose next publication failed', 'reusables', publisher('failed'), publishedFrom(oldest)],
])('rebuilds %s at its slot', async (_what, mode, checked, base) => {
  const { scope } = await decide(mode, checked, base);
  expect(scope.status.activation).toMatchObject({ reason: 'Schedule', rebuild: true });
  expect(Date.parse(scope.status.schedule?.next ?? '') - scope.now.getTime()).toBe(day - minute);
});
