import { describe, expect, test } from '@jest/globals';
import type { KubernetesObject, ObjectMeta } from '../../../kubernetes/resource-type.ts';
import { findOrphans, type Observed } from './find.ts';

const labels = {
  'app.kubernetes.io/managed-by': 'coppice',
  'coppice.dev/group': 'acme',
  'coppice.dev/environment': 'shop-main',
  'coppice.dev/environment-uid': 'u1',
};
const group = { 'app.kubernetes.io/managed-by': 'coppice', 'coppice.dev/group': 'acme' };
const owner = { 'coppice.dev/owner-uid': 'u1' };
const namespaceName = 'env-shop-main--acme';

const object = (kind: string, metadata: ObjectMeta) => ({ apiVersion: 'v1', kind, metadata });
const namespace = (name: string, more: Partial<ObjectMeta> = {}) =>
  object('Namespace', { name, uid: `uid-of-${name}`, labels, annotations: owner, ...more });
const job = (more: Partial<ObjectMeta> = {}) =>
  object('Job', { name: 'build-1', namespace: namespaceName, labels, ...more });
const secret = (name: string, more: object = {}) =>
  object('Secret', { name, namespace: 'builders', labels: { ...group, 'coppice.dev/builder': name, ...more } });
const environment = (uid: string, name = 'shop-main') => object('Environment', { name, namespace: 'group-acme', uid });
const acme = object('Group', { name: 'acme', uid: 'g1' });

interface World {
  environments?: KubernetesObject[];
  groups?: KubernetesObject[];
  namespaces?: KubernetesObject[];
  jobs?: KubernetesObject[];
  builderSecrets?: KubernetesObject[];
}

function orphansIn(world: World): string[] {
  const none: World = { environments: [], groups: [acme], namespaces: [], jobs: [], builderSecrets: [] };
  return findOrphans({ ...none, ...world } as unknown as Observed).map(
    ({ kind, object: { metadata }, keptBecause }) =>
      `${kind} ${metadata.name}${keptBecause === undefined ? '' : ` stays: ${keptBecause}`}`,
  );
}

describe('orphans', () => {
  const table: [string, World, (string | RegExp)[]][] = [
    ['an environment that is there', { environments: [environment('u1')], namespaces: [namespace(namespaceName)] }, []],
    ['one that is gone', { namespaces: [namespace(namespaceName)] }, [`Namespace ${namespaceName}`]],
    [
      'its namespace is counted, not what is in it',
      { namespaces: [namespace(namespaceName)], jobs: [job()] },
      [`Namespace ${namespaceName}`],
    ],
    [
      'a Job of a former environment of that name',
      { environments: [environment('u2', 'other')], jobs: [job()] },
      ['Job build-1'],
    ],
    [
      'another Environment has the name by now',
      { environments: [environment('u2')], namespaces: [namespace(namespaceName)] },
      [/stays: an Environment of that name exists/],
    ],
    [
      'a namespace with our labels, of another name',
      { namespaces: [namespace('theirs')] },
      ['Namespace theirs stays: it was modified since Coppice created it'],
    ],
    [
      'a namespace whose annotation does not say whose it is',
      { namespaces: [namespace(namespaceName, { annotations: {} })] },
      [/stays: it was modified/],
    ],
    ['a namespace without our labels', { namespaces: [namespace(namespaceName, { labels: {} })] }, []],
    ['a Job without the UID', { jobs: [job({ labels: group })] }, []],
    [
      "a group's namespace that Coppice made",
      { groups: [], namespaces: [namespace('group-acme', { labels: group })] },
      [/^Namespace group-acme stays: it may contain objects of others/],
    ],
    [
      'one that an administrator made',
      { groups: [], namespaces: [namespace('group-acme', { labels: group, annotations: {} })] },
      [],
    ],
    ['the builder of a group that is there', { builderSecrets: [secret('group-acme')] }, []],
    ['of one that is gone', { groups: [], builderSecrets: [secret('group-acme')] }, ['Builder group-acme']],
    [
      'an ephemeral builder',
      { builderSecrets: [secret('ephemeral-u1-1', { ...labels, 'coppice.dev/build': '1' })] },
      ['Builder ephemeral-u1-1'],
    ],
    [
      'an ephemeral builder of an environment that is there',
      { environments: [environment('u1')], builderSecrets: [secret('ephemeral-u1-1', labels)] },
      [],
    ],
    ["somebody's Secret", { groups: [], builderSecrets: [secret('x', { 'coppice.dev/builder': 'y' })] }, []],
  ];
  test.each(table)('%s', (_what, world, expected) => {
    const found = orphansIn(world);
    expect(found).toHaveLength(expected.length);
    for (const [index, one] of expected.entries()) expect(found[index]).toMatch(one);
  });
});
