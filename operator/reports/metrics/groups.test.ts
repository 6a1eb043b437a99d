import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Environment } from '../../../crds/environment.ts';
import type { Group } from '../../../crds/group.ts';
import { GroupLabels, OTHER_GROUPS } from './group-labels.ts';
import { observeGroups } from './groups.ts';

type Change = 'added' | 'updated' | 'deleted';

function environmentOf(
  group: string,
  result: 'running' | 'succeeded' | 'failed',
  state: 'built' | 'empty' = 'built',
): Environment {
  const build = { number: 1, result, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:01:00Z' };
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { namespace: `group-${group}`, name: 'shop-main', uid: `u-${group}` },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: { state, build },
  };
}

function observed(max: number) {
  const onEnvironment: ((change: Change, now: Environment, old?: Environment) => void)[] = [];
  const onGroup: ((change: Change, group: Group) => void)[] = [];
  const all: Environment[] = [];
  const registry = new Registry();
  const environments = {
    addHandler: (handler: (typeof onEnvironment)[number]) => {
      onEnvironment.push(handler);
      return () => undefined;
    },
    list: () => all,
  };
  const groups = {
    addHandler: (handler: (typeof onGroup)[number]) => {
      onGroup.push(handler);
      return () => undefined;
    },
  };
  observeGroups({ environments, groups }, registry, new GroupLabels(max));
  return {
    build(group: string, result: 'succeeded' | 'failed' = 'succeeded') {
      const now = environmentOf(group, result);
      all.push(now);
      for (const handle of onEnvironment) handle('updated', now, environmentOf(group, 'running'));
    },
    add: (environment: Environment) => all.push(environment),
    remove(group: string) {
      const object = {
        apiVersion: 'coppice.dev/v1alpha1',
        kind: 'Group',
        metadata: { name: group },
        spec: { members: [] },
      };
      for (const handle of onGroup) handle('deleted', object);
      all.splice(0, all.length, ...all.filter(({ metadata }) => metadata.namespace !== `group-${group}`));
    },
    samples: async () =>
      (await registry.metrics())
        .split('\n')
        .filter((line) => line.startsWith('coppice_'))
        .sort(),
  };
}

test('reports environments with contents and builds by group', async () => {
  const world = observed(10);
  world.build('acme');
  world.build('acme', 'failed');
  world.add(environmentOf('acme', 'succeeded', 'empty'));
  expect(await world.samples()).toEqual([
    'coppice_group_builds_total{group="acme",result="failed"} 1',
    'coppice_group_builds_total{group="acme",result="succeeded"} 1',
    'coppice_group_environments{group="acme"} 2',
  ]);
});

test('gives only a limited number of groups series of their own', async () => {
  const world = observed(2);
  for (let index = 0; index < 50; index += 1) world.build(`g${index}`);
  expect(await world.samples()).toEqual([
    `coppice_group_builds_total{group="${OTHER_GROUPS}",result="succeeded"} 48`,
    'coppice_group_builds_total{group="g0",result="succeeded"} 1',
    'coppice_group_builds_total{group="g1",result="succeeded"} 1',
    `coppice_group_environments{group="${OTHER_GROUPS}"} 48`,
    'coppice_group_environments{group="g0"} 1',
    'coppice_group_environments{group="g1"} 1',
  ]);
});

test('removes the series of a deleted group, which frees them for another one', async () => {
  const world = observed(1);
  world.build('acme');
  world.remove('acme');
  expect(await world.samples()).toEqual([]);
  world.build('globex');
  expect(await world.samples()).toContain('coppice_group_environments{group="globex"} 1');
});
