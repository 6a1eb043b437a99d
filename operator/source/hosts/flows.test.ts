import { expect, test } from '@jest/globals';
import { GROUP_VERSION } from '../../../crds/api-group.ts';
import type { Environment } from '../../../crds/environment.ts';
import type { Group } from '../../../crds/group.ts';
import { ANNOTATIONS, LABELS } from '../../../crds/labels.ts';
import type { Repository } from '../../../crds/repository.ts';
import { Flows } from './flows.ts';

const repositoryAt = (origin: string) =>
  ({
    metadata: { namespace: 'group-acme', name: 'shop' },
    spec: { type: 'generic', generic: { origin } },
  }) as Repository;

/** One account created acme and beta; no account created gitops. */
function flows(): Flows {
  const group = (name: string, annotations?: Record<string, string>): [string, Group] => [
    name,
    {
      apiVersion: GROUP_VERSION,
      kind: 'Group',
      metadata: { name, ...(annotations && { annotations }) },
      spec: { members: [] },
    },
  ];
  const byAlice = { [ANNOTATIONS.createdBy]: 'alice' };
  const groups = new Map([group('acme', byAlice), group('beta', byAlice), group('gitops')]);
  const environments = new Map(
    ['shop', 'gone'].map((repository) => [
      `group-acme/${repository}-main`,
      { metadata: { namespace: 'group-acme', name: `${repository}-main` }, spec: { repository } } as Environment,
    ]),
  );
  return new Flows({
    groups: { get: (name) => groups.get(name) },
    environments: { get: (key) => environments.get(key) },
    repositories: {
      get: (key) => (key === 'group-acme/shop' ? repositoryAt('https://git.example/shop.git') : undefined),
    },
  });
}

test.each([
  ['acme', 'account alice'],
  ['beta', 'account alice'],
  ['gitops', 'group gitops'],
  ['deleted', 'group deleted'],
])('assigns the group %s to the tenant %s', (group, tenant) => {
  expect(flows().ofGroup(group)).toEqual({ tenant, group });
  expect(flows().ofNamespace(`group-${group}`)).toEqual({ tenant, group });
});

test.each([
  ['an object of an environment', { namespace: 'env-shop-main--acme', labels: { [LABELS.group]: 'acme' } }, 'acme'],
  ['a namespace', { labels: { [LABELS.group]: 'acme' } }, 'acme'],
  ["an object of a group's namespace", { namespace: 'group-beta' }, 'beta'],
])('assigns the write of %s to the tenant of its group', (_what, metadata, group) => {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', ...metadata } };
  expect(flows().ofObject(object)).toEqual({ tenant: 'account alice', group, host: group });
});

test('assigns what concerns a Group itself to its tenant', () => {
  const group = { apiVersion: 'coppice.dev/v1alpha1', kind: 'Group', metadata: { name: 'acme' } };
  expect(flows().ofObject(group)).toEqual({ tenant: 'account alice', group: 'acme', host: 'acme' });
});

test.each([
  ['https://git.example:8443/shop.git', 'git.example'],
  ['ssh://git@git.example:2222/shop.git', 'git.example'],
  ['git@git.example:shop.git', 'git.example'],
  ['https://', 'https://'],
])('assigns a repository at %s to the flow of the host %s', (origin, host) => {
  expect(flows().ofHost(repositoryAt(origin))).toEqual({ tenant: 'account alice', group: 'acme', host });
});

test('assigns reconciles to flows by group, and in these by host', () => {
  const atHost = { tenant: 'account alice', group: 'acme', host: 'acme git.example' };
  const atNone = { ...atHost, host: 'acme ' };
  expect(flows().ofRepository('group-acme/shop')).toEqual(atHost);
  expect(flows().ofEnvironment('group-acme/shop-main')).toEqual(atHost);
  expect(flows().ofEnvironment('group-acme/gone-main')).toEqual(atNone);
  expect(flows().ofEnvironment('group-acme/deleted')).toEqual(atNone);
});
