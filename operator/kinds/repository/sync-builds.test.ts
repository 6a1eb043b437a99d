import { describe, expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import { sampleActivation } from '../../../crds/testing/activation.ts';
import { isSyncRequest, planIncludedBuilds } from './sync-builds.ts';

const [old, now] = ['1'.repeat(40), '2'.repeat(40)];

/** An environment of the repository shop that includes backend. */
function environment(status: EnvironmentStatus, annotations: Record<string, string> = {}): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-feature', namespace: 'group-acme', annotations },
    spec: { repository: 'shop', gitRef: { name: 'feature', type: 'branch' }, active: true, buildOnCreate: true },
    status: { activation: sampleActivation(), ...status },
  };
}

const included = (branch?: string, commit?: string, branches = ['feature', 'main']) => [
  { name: 'backend', branches, branch, commit },
];
const plan = (object: Environment, branches: Record<string, string> = { main: now }) =>
  planIncludedBuilds('backend', [object], { branches: new Map(Object.entries(branches)) });
const build = (more: Partial<NonNullable<EnvironmentStatus['build']>> = {}) => ({
  ...{ number: 1, result: 'running' as const, startedAt: '2026-01-01T00:00:00Z', commit: 'c' },
  ...more,
});

describe('builds with the new commits of an included repository', () => {
  test.each<[string, EnvironmentStatus, Record<string, string>, number]>([
    ['of the branch that was taken', { repositories: included('main', old) }, { main: now }, 1],
    ['of the same commit', { repositories: included('main', now) }, { main: now }, 0],
    ['of a new branch of the same name', { repositories: included('main', now) }, { main: now, feature: now }, 1],
    ['of a deleted branch of the same name', { repositories: included('feature', now) }, { main: now }, 1],
    [
      'of a branch that was missing',
      { repositories: included(undefined, undefined, ['feature']) },
      { feature: now },
      1,
    ],
    [
      'of a branch that is still missing',
      { repositories: included(undefined, undefined, ['feature']) },
      { main: now },
      0,
    ],
    ['of another branch', { repositories: included('feature', old) }, { feature: old, main: now }, 0],
    ['that cannot be included', { repositories: included(undefined, undefined, []) }, { main: now }, 0],
    ['that is not included', { repositories: [] }, { main: now }, 0],
    [
      'that the running build has',
      {
        repositories: included('main', old),
        build: build({ repositories: [{ name: 'backend', branch: 'main', commit: now }] }),
      },
      { main: now },
      0,
    ],
    [
      'without contents',
      { repositories: included('main', old), activation: sampleActivation({ active: false }) },
      { main: now },
      0,
    ],
  ])('%s', (_what, status, branches, count) => {
    expect(plan(environment(status), branches)).toHaveLength(count);
  });

  test('are requested once for each branch and commit', () => {
    const status = { repositories: included('main', old) };
    const idOf = (branches: Record<string, string>) => plan(environment(status), branches)[0]?.requestId ?? '';
    const id = idOf({ main: now });
    expect(new Set([id, idOf({ feature: now }), idOf({ main: '3'.repeat(40) })]).size).toBe(3);
    const value = `2026-01-01T00:00:00.000Z/${id}`;
    expect([isSyncRequest(value), value.length < 128]).toEqual([true, true]);
    const asked = { 'coppice.dev/request-build': value };
    expect(plan(environment(status, asked))).toEqual([]);
    const failed = { ...status, handledRequests: { build: value }, build: build({ result: 'failed' }) };
    expect(plan(environment(failed, asked))).toEqual([]);
  });
});
