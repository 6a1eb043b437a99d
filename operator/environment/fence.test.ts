import { expect, test } from '@jest/globals';
import type { NetworkPolicy } from '../../kubernetes/resource-type.ts';
import { environmentNamespaceObject, fenceObjects } from './fence.ts';

const objects = fenceObjects((name) => ({ name, namespace: 'env-x', labels: { owner: 'x' } }), {
  ingressNamespace: 'ingress',
  builderNamespace: 'builders',
  buildkitdPort: 1234,
  gitPorts: [443],
  quota: { pods: '5' },
  defaultRequests: { cpu: '10m' },
  defaultLimits: { memory: '1Gi' },
});

function policy(name: string): NetworkPolicy['spec'] {
  return objects.find(
    (object): object is NetworkPolicy => object.kind === 'NetworkPolicy' && object.metadata.name === name,
  )?.spec;
}

test('nothing comes in or goes out unless it is allowed', () => {
  expect(policy('default-deny')).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
});

test('services reach each other, names and the internet, and no private network', () => {
  const egress = policy('services')?.egress ?? [];
  expect(egress[0]?.to?.[0]?.podSelector).toBeDefined();
  expect(egress[2]?.to?.[0]?.ipBlock?.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']));
});

test('nobody reaches a build', () => {
  expect(policy('builds')?.policyTypes).toContain('Ingress');
  expect(policy('builds')?.ingress).toBeUndefined();
});

test('the namespace enforces Pod Security and carries its owner', () => {
  expect(environmentNamespaceObject('env-x', { a: 'b' }, 'uid').metadata).toMatchObject({
    labels: { a: 'b', 'pod-security.kubernetes.io/enforce': 'baseline' },
    annotations: { 'coppice.dev/owner-uid': 'uid' },
  });
});
