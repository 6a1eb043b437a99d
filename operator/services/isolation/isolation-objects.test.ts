import { expect, test } from '@jest/globals';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import { environmentNamespaceObject, isolationObjects, membersBinding } from './isolation-objects.ts';
import { defaultEgress } from '../../shared/testing/default-egress.ts';

const objects = isolationObjects((name) => ({ name, namespace: 'env-x', labels: { owner: 'x' } }), {
  builderNamespace: 'builders',
  buildkitdPort: 1234,
  clonePorts: [443],
  egress: defaultEgress,
  quota: { pods: '5' },
  defaultRequests: { cpu: '10m' },
  defaultLimits: { memory: '1Gi' },
});

function policy(name: string): NetworkPolicy['spec'] {
  return objects.find(
    (object): object is NetworkPolicy => object.kind === 'NetworkPolicy' && object.metadata.name === name,
  )?.spec;
}

test('its policies are reported from those of services, which alone are watched', () => {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.map(({ metadata }) => metadata.labels)).toEqual(
    ['default-deny', 'services', 'builds'].map(() => ({ owner: 'x', 'coppice.dev/isolation': 'true' })),
  );
});

test('members are bound to the role by their addresses', () => {
  const access = { role: 'environment-member', members: ['ann@example.com'] };
  expect(membersBinding((name) => ({ name, namespace: 'env-x', labels: { owner: 'x' } }), access)).toMatchObject({
    metadata: { name: 'members', namespace: 'env-x', labels: { owner: 'x' } },
    roleRef: { kind: 'ClusterRole', name: 'environment-member' },
    subjects: [{ kind: 'User', name: 'ann@example.com' }],
  });
});

test('nothing comes in or goes out unless it is allowed', () => {
  expect(policy('default-deny')).toEqual({
    ...{ podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    // Empty lists, so that what somebody else adds is taken away again.
    ...{ ingress: [], egress: [] },
  });
});

test('services reach names and the internet, and no private network; nobody reaches them', () => {
  const { egress = [], ingress, policyTypes } = policy('services') ?? {};
  expect(egress).toHaveLength(2);
  expect(egress[1]?.to?.[0]?.ipBlock?.except).toEqual(
    expect.arrayContaining(['10.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16']),
  );
  expect(policyTypes).toContain('Ingress');
  expect(ingress).toEqual([]);
});

test('what is in no network is not let out either', () => {
  expect(policy('services')?.podSelector?.matchExpressions).toContainEqual({
    key: 'coppice.dev/offline',
    operator: 'DoesNotExist',
  });
});

test('nobody reaches a build', () => {
  expect(policy('builds')?.policyTypes).toContain('Ingress');
  expect(policy('builds')?.ingress).toEqual([]);
});

test('a build reaches Git servers outside and in the cluster, and no cloud’s metadata service', () => {
  const [, buildkitd, git, ...others] = policy('builds')?.egress ?? [];
  expect(others).toEqual([]);
  expect(buildkitd?.to?.[0]?.namespaceSelector?.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'builders' });
  expect(git?.ports).toEqual([{ protocol: 'TCP', port: 443 }]);
  expect(git?.to).toEqual([
    { ipBlock: { cidr: '0.0.0.0/0', except: ['168.63.129.16/32', '169.254.0.0/16'] } },
    { ipBlock: { cidr: '::/0', except: ['fd00:ec2::/32', 'fe80::/10'] } },
    { namespaceSelector: {} },
  ]);
});

test('the namespace enforces Pod Security and carries its owner', () => {
  expect(environmentNamespaceObject('env-x', { a: 'b' }, 'uid').metadata).toMatchObject({
    labels: { a: 'b', 'pod-security.kubernetes.io/enforce': 'baseline' },
    annotations: { 'coppice.dev/owner-uid': 'uid' },
  });
});
