import { expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { environmentView, spawnedView } from './environment-view.ts';

const group: Group = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Group',
  metadata: { name: 'acme' },
  spec: { members: [] },
};
const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
};
const address = { scheme: 'http', domain: 'env.localhost', port: 8080 } as const;
const createdAt = Date.UTC(2026, 0, 1) / 1000;

const fresh = {
  id: 'acme.shop-main',
  rid: 'acme.shop',
  gid: 'acme',
  version: 0,
  name: 'shop-main',
  gitRef: { name: 'main', type: 'branch' },
  status: 'empty',
  health: 'progressing',
  weburl: 'http://shop-main--acme.env.localhost:8080/',
  aliases: {},
  access: 'public',
  buildTime: 0,
  createdAt,
  builtAt: 0,
  buildAt: 0,
  size: 0,
  settings: { sleep: {} },
  services: [],
  conditions: [],
};

test('has every field except ttl before the operator has reconciled the environment', () => {
  expect(environmentView(group, environment, address)).toEqual(fresh);
});

test('shows which time to live deleted the contents, until new ones are wanted', () => {
  const activation = {
    ...{ active: false, since: '2026-01-01T00:01:00Z', reason: 'Expired' as const, specActive: true },
    buildPending: false,
  };
  const status = { state: 'empty' as const, activation, ttl: { seconds: 60, since: '2026-01-01T00:00:00Z' } };
  const expired = { at: createdAt + 60, ttl: 60 };
  expect(environmentView(group, { ...environment, status }, address).expired).toEqual(expired);
  const wanted = { ...status, activation: { ...activation, active: true } };
  expect(environmentView(group, { ...environment, status: wanted }, address)).not.toHaveProperty('expired');
});

test('answers spawn with four strings', () => {
  const named = { ...environment, spec: { ...environment.spec, displayName: 'Demo' } };
  expect(spawnedView(group, named, { scheme: 'https', domain: 'envs.example' })).toEqual({
    id: 'acme.shop-main',
    name: 'Demo',
    status: 'empty',
    weburl: 'https://shop-main--acme.envs.example/',
  });
});

test('shows a failed build together with the build that is still deployed', () => {
  const condition = { type: 'Built', status: 'False' as const, reason: 'BuildFailed', message: 'exit 1' };
  const view = environmentView(
    group,
    {
      ...environment,
      status: {
        state: 'built',
        webURL: 'http://elsewhere.env.localhost/',
        ttl: { seconds: 60, since: '2026-01-01T00:00:00Z' },
        services: [
          { name: 'web', ready: true },
          {
            ...{ name: 'api', ready: true, restarts: 4 },
            lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: '2026-01-01T00:03:00Z' },
          },
        ],
        build: { number: 3, result: 'running', startedAt: '2026-01-01T01:00:00Z' },
        deployed: {
          number: 2,
          result: 'succeeded',
          startedAt: '2026-01-01T00:01:00Z',
          finishedAt: '2026-01-01T00:02:30Z',
          sizeBytes: 1000,
        },
        volumes: { build: 2, usedBytes: 24 },
        conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }],
      },
    },
    address,
  );
  expect(view).toEqual({
    ...fresh,
    status: 'built',
    health: 'healthy',
    deployedBuild: 2,
    weburl: 'http://elsewhere.env.localhost/',
    buildTime: 90,
    builtAt: createdAt + 150,
    buildAt: createdAt + 150,
    ttl: 60,
    size: 1024,
    services: [
      { id: 'acme.shop-main.web', name: 'web', ready: true, restarts: 0 },
      {
        ...{ id: 'acme.shop-main.api', name: 'api', ready: true, restarts: 4 },
        lastTermination: { reason: 'OOMKilled', exitCode: 137, finishedAt: createdAt + 180 },
      },
    ],
    conditions: [{ ...condition, since: createdAt }],
    build: {
      ...{ number: 3, result: 'running', startedAt: createdAt + 3600 },
      stages: [{ name: 'build', startedAt: createdAt + 3600 }],
    },
  });
});

const first = { startedAt: '2026-01-01T00:00:00.900Z', finishedAt: '2026-01-01T00:00:02.200Z' };
const second = { startedAt: '2026-01-01T01:00:00.000Z' };
const done = Date.parse('2026-01-01T00:00:02Z') / 1000;

test.each<[string, Environment['status'], { builtAt: number; buildTime: number }]>([
  ['of what was never built', {}, { builtAt: 0, buildTime: 0 }],
  ['while the first build runs', { build: { number: 1, result: 'running', ...second } }, { builtAt: 0, buildTime: 0 }],
  [
    'of one that took 1.3 s, over two changes of the second',
    { build: { number: 1, result: 'succeeded', ...first } },
    { builtAt: done, buildTime: 1 },
  ],
  [
    'of one that took less than a second',
    { build: { number: 1, result: 'succeeded', startedAt: first.finishedAt, finishedAt: first.finishedAt } },
    { builtAt: done, buildTime: 1 },
  ],
  [
    'while it is rebuilt',
    { build: { number: 2, result: 'running', ...second, previous: first } },
    { builtAt: done, buildTime: 1 },
  ],
])('returns builtAt and buildTime %s', (_what, status, expected) => {
  expect(environmentView(group, { ...environment, status }, address)).toMatchObject({
    ...expected,
    buildAt: expected.builtAt,
  });
});

const contents = { since: '2026-01-01T00:00:00Z', reason: 'Spec', specActive: true, buildPending: false } as const;
const active = { ...contents, active: true };
const build = { number: 1, result: 'succeeded', ...first, commit: 'c1' } as const;
const at = '2026-01-01T00:10:00.000Z';

test.each<[string, Environment['status'], Record<string, string>, object]>([
  [
    'weburl, without a public service',
    { state: 'built', activation: active, deployed: build },
    {},
    { weburl: undefined },
  ],
  ['commit, of a deployed build', { deployed: build, commit: 'c2' }, {}, { commit: 'c1' }],
  ['commit, of services that are set up', { commit: 'c2' }, {}, { commit: 'c2' }],
  [
    'expiresAt',
    { activation: active, expiresAt: '2026-01-01T01:00:00Z', ttl: { seconds: 3600, since: active.since } },
    {},
    { expiresAt: createdAt + 3600, ttl: 3600 },
  ],
  [
    'expiresAt, of a TTL that was just asked for',
    { activation: active, expiresAt: '2026-01-01T01:00:00Z', ttl: { seconds: 3600, since: active.since } },
    { 'coppice.dev/request-ttl': `${at}/x/60` },
    { expiresAt: createdAt + 660, ttl: 60 },
  ],
  [
    'neither ttl nor expiresAt, once a TTL has passed',
    { state: 'empty', activation: { ...active, active: false }, ttl: { seconds: 60, since: active.since } },
    {},
    { expiresAt: undefined, ttl: undefined },
  ],
])('%s', (_what, status, annotations, expected) => {
  const { metadata } = environment;
  const view = environmentView(group, { ...environment, metadata: { ...metadata, annotations }, status }, address);
  for (const [field, value] of Object.entries(expected)) {
    if (value === undefined) expect(view).not.toHaveProperty(field);
    else expect(view).toHaveProperty(field, value);
  }
});
