import { expect, test } from '@jest/globals';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import { apiBinding, environmentNamespaceObject, isolationObjects, membersBinding } from './isolation-objects.ts';
import { DEFAULT_EGRESS } from '../../shared/testing/default-egress.ts';

const objects = isolationObjects((name) => ({ name, namespace: 'env-x', labels: { owner: 'x' } }), {
  builderNamespace: 'builders',
  buildkitdPort: 1234,
  clonePorts: [443],
  egress: DEFAULT_EGRESS,
  quota: { pods: '5' },
  defaultRequests: { cpu: '10m' },
  defaultLimits: { memory: '1Gi' },
});

function policy(name: string): NetworkPolicy['spec'] {
  return objects.find(
    (object): object is NetworkPolicy => object.kind === 'NetworkPolicy' && object.metadata.name === name,
  )?.spec;
}

test('distinguishes its policies, which alone are watched, from those of services', () => {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.map(({ metadata }) => metadata.labels)).toEqual(
    ['default-deny', 'services', 'builds'].map(() => ({ owner: 'x', 'coppice.dev/isolation': 'true' })),
  );
});

test('binds members by their addresses, and the API, to the role', () => {
  const serviceAccount = { namespace: 'system', name: 'api' };
  const access = { role: 'environment-member', members: ['ann@example.com'], serviceAccount };
  expect(membersBinding((name) => ({ name, namespace: 'env-x', labels: { owner: 'x' } }), access)).toMatchObject({
    metadata: { name: 'members', namespace: 'env-x', labels: { owner: 'x' } },
    roleRef: { kind: 'ClusterRole', name: 'environment-member' },
    subjects: [
      { kind: 'User', name: 'ann@example.com' },
      { kind: 'ServiceAccount', namespace: 'system', name: 'api' },
    ],
  });
});

test.each<[string, { namespace: string; name: string } | undefined, object[]]>([
  [
    'its ServiceAccount',
    { namespace: 'system', name: 'api' },
    [{ kind: 'ServiceAccount', namespace: 'system', name: 'api' }],
  ],
  ['nobody', undefined, []],
])('binds the role of the API to %s', (_what, serviceAccount, subjects) => {
  const binding = apiBinding((name) => ({ name, namespace: 'env-x', labels: {} }), {
    role: 'environment-api',
    serviceAccount,
  });
  expect(binding).toMatchObject({ metadata: { name: 'api' }, roleRef: { name: 'environment-api' } });
  expect(binding.subjects).toEqual(subjects);
});

test('permits nothing in or out by default', () => {
  expect(policy('default-deny')).toEqual({
    ...{ podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    // The lists are empty, so that rules that somebody adds are removed.
    ...{ ingress: [], egress: [] },
  });
});

test('lets services reach DNS and the internet, but no private network, and be reached by nobody', () => {
  const { egress = [], ingress, policyTypes } = policy('services') ?? {};
  expect(egress).toHaveLength(2);
  expect(egress[1]?.to?.[0]?.ipBlock?.except).toEqual(
    expect.arrayContaining(['10.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16']),
  );
  expect(policyTypes).toContain('Ingress');
  expect(ingress).toEqual([]);
});

test('lets services without a network reach nothing', () => {
  expect(policy('services')?.podSelector?.matchExpressions).toContainEqual({
    key: 'coppice.dev/offline',
    operator: 'DoesNotExist',
  });
});

test('lets nobody reach a build', () => {
  expect(policy('builds')?.policyTypes).toContain('Ingress');
  expect(policy('builds')?.ingress).toEqual([]);
});

test('lets a build reach Git servers outside and in the cluster, but no metadata service of a cloud', () => {
  const [, buildkitd, git, ...others] = policy('builds')?.egress ?? [];
  expect(others).toEqual([]);
  expect(buildkitd?.to?.[0]?.namespaceSelector?.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'builders' });
  expect(git?.ports).toEqual([{ protocol: 'TCP', port: 443 }]);
  expect(git?.to).toEqual([
    { ipBlock: { cidr: '0.0.0.0/0', except: ['168.63.129.16/32', '169.254.0.0/16'] } },
    { ipBlock: { cidr: '::/0', except: expect.arrayContaining(['fd00:ec2::/32', 'fd20:ce::254/128', 'fe80::/10']) } },
    { namespaceSelector: {} },
  ]);
});

test('labels the namespace for Pod Security and its owner', () => {
  expect(environmentNamespaceObject('env-x', { a: 'b' }, 'uid').metadata).toMatchObject({
    labels: { a: 'b', 'pod-security.kubernetes.io/enforce': 'baseline' },
    annotations: { 'coppice.dev/owner-uid': 'uid' },
  });
});
