import { expect, test } from '@jest/globals';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { readFacts } from './facts.ts';
import type { CheckSettings } from './settings.ts';

const settings: CheckSettings = {
  ingress: { namespace: 'ingress', cidrs: [], parentRefs: [{ namespace: 'gateway', name: 'web' }] },
  dns: { namespace: 'kube-system', podLabels: {}, cidrs: [], ports: [53] },
  egress: { ipv6: false, exceptCidrs: [] },
  privateEgress: [],
  storageClasses: {},
  registry: 'registry.example.com',
};

/** A cluster whose lists are empty except for the given ones, by kind; `listed` records each list request. */
function clusterWith(lists: Record<string, object[] | Error>, answers: Record<string, object> = {}) {
  const listed: string[] = [];
  const client = {
    list: ({ kind }: { kind: string }, { namespace }: { namespace?: string }) => {
      listed.push(`${kind} ${namespace ?? ''}`.trim());
      const found = lists[kind] ?? [];
      return found instanceof Error ? Promise.reject(found) : Promise.resolve({ items: found });
    },
    find: () => Promise.resolve(undefined),
    discover: (path: string) =>
      answers[path] ? Promise.resolve(answers[path]) : Promise.reject(new ApiError(path, 404, 'NotFound', 'none')),
  };
  return { listed, client: client as unknown as Pick<ClusterClient, 'list' | 'find' | 'discover'> };
}
const resolvConf = () =>
  Promise.resolve('search svc\nnameserver 10.96.0.10\nnameserver fd00::a\n# nameserver 1.1.1.1\n');

test('lists only what the checks need, Services and endpoints in two namespaces', async () => {
  const { client, listed } = clusterWith({}, { '/version': { gitVersion: 'v1.36.3' } });
  const facts = await readFacts(client, settings, resolvConf);
  const [dns, ingress] = ['kube-system', 'ingress'];
  expect(listed.sort()).toEqual(
    [
      `EndpointSlice ${dns}`,
      `EndpointSlice ${ingress}`,
      'IngressClass',
      'Node',
      `Service ${dns}`,
      'StorageClass',
    ].sort(),
  );
  expect(facts).toMatchObject({
    version: { value: 'v1.36.3' },
    nameservers: { value: ['10.96.0.10', 'fd00::a'] },
    gateways: { value: new Map([['gateway/web', undefined]]) },
    hasMetrics: { value: false },
  });
});

test('finds resources in the discovery', async () => {
  const resources = { resources: [{ name: 'pods' }, { name: 'nodes' }] };
  const { client } = clusterWith({}, { '/apis/metrics.k8s.io/v1beta1': resources });
  const { hasMetrics, hasAdmissionPolicies } = await readFacts(client, settings, resolvConf);
  expect([hasMetrics, hasAdmissionPolicies]).toEqual([{ value: true }, { value: false }]);
});

test('reports facts that it cannot read or does not understand as unknown, and reads the rest', async () => {
  const forbidden = new ApiError('GET /api/v1/nodes', 403, 'Forbidden', 'cannot list nodes');
  const { client } = clusterWith({
    Node: forbidden,
    Service: [{ metadata: {} }],
    StorageClass: [{ metadata: { name: 'fast' } }],
  });
  const facts = await readFacts(client, settings, resolvConf);
  expect(facts.nodes).toEqual({ unknown: 'GET /api/v1/nodes: 403 Forbidden: cannot list nodes' });
  expect(facts.dnsServices).toHaveProperty('unknown');
  expect(facts.storageClasses).toEqual({ value: [{ metadata: { name: 'fast' } }] });
});
