import { describe, expect, test } from '@jest/globals';
import { findings } from './checks.ts';
import type { ClassFact, ClusterFacts, GatewayFact, SliceFact } from './facts.ts';
import type { CheckSettings } from './settings.ts';

const preset = (key: string) => ({ annotations: { [key]: 'true' } });
const named = (name: string, metadata: object = {}): ClassFact => ({ metadata: { name, ...metadata } });
const slice = (service: string, addresses: string[], ports: number[]): SliceFact => ({
  metadata: { name: `${service}-x`, labels: { 'kubernetes.io/service-name': service } },
  endpoints: [{ addresses }],
  ports: ports.map((port) => ({ port })),
});
const node = (address: string, podCIDRs: string[], images: string[] = []) => ({
  metadata: { name: address },
  spec: { podCIDRs },
  status: { addresses: [{ type: 'InternalIP', address }], images: [{ names: images }] },
});
const gateway = (status: string): GatewayFact => ({
  metadata: { name: 'web' },
  spec: { listeners: [{ name: 'https', port: 443 }] },
  status: { conditions: [{ type: 'Programmed', status, message: 'no address' }] },
});

/** A cluster that meets the settings. */
const facts = {
  version: { value: 'v1.36.3' },
  nodes: { value: [node('172.18.0.2', ['10.244.0.0/24'], ['registry.example.com/acme/shop@sha256:1'])] },
  storageClasses: { value: [named('fast'), named('standard', preset('storageclass.kubernetes.io/is-default-class'))] },
  ingressClasses: { value: [named('nginx', preset('ingressclass.kubernetes.io/is-default-class'))] },
  gateways: { value: new Map() },
  nameservers: { value: ['10.96.0.10'] },
  dnsServices: {
    value: [
      { metadata: { name: 'kube-dns' }, spec: { clusterIPs: ['10.96.0.10'], selector: { 'k8s-app': 'kube-dns' } } },
    ],
  },
  dnsSlices: { value: [slice('kube-dns', ['10.244.0.3'], [53, 53, 9153])] },
  ingressSlices: { value: [slice('nginx', ['10.244.0.9'], [80])] },
  hasMetrics: { value: true },
  hasAdmissionPolicies: { value: true },
} satisfies ClusterFacts;
const settings: CheckSettings = {
  ingress: { namespace: 'ingress', cidrs: [], parentRefs: [] },
  dns: { namespace: 'kube-system', podLabels: {}, cidrs: [], ports: [53] },
  egress: { ipv6: false, exceptCidrs: [] },
  privateEgress: ['172.20.0.5/32'],
  storageClasses: { 'builder.cache.storageClass': undefined },
  registry: 'registry.example.com',
};
const attached = { ...settings.ingress, parentRefs: [{ namespace: 'gateway', name: 'web', port: 443 }] };
const at = (found: GatewayFact | undefined) => ({ gateways: { value: new Map([['gateway/web', found]]) } });

const problems = (changed: Partial<ClusterFacts>, configured: Partial<CheckSettings> = {}) =>
  findings({ ...facts, ...changed }, { ...settings, ...configured })
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, message }) => `${level} ${check}: ${message}`);

test('finds nothing in a cluster that fits, and says what it found', () => {
  expect(problems({})).toEqual([]);
  expect(findings(facts, settings).map(({ check, message }) => `${check}: ${message}`)).toEqual([
    'Kubernetes: v1.36.3',
    'StorageClass: fast, standard',
    'IngressClass: nginx, the default',
    'Ingress controller: pods in ingress',
    'DNS: Service kube-system/kube-dns',
    'nodes: 1; environments and builds cannot connect to them',
    'registry: 1 of 1 nodes have images of registry.example.com',
    'metrics: the metrics API is available',
    'admission: ValidatingAdmissionPolicies are available',
  ]);
});

describe('one fault is one finding, which names what to set', () => {
  test.each<[string, Partial<ClusterFacts>, Partial<CheckSettings>, RegExp]>([
    ['an old Kubernetes', { version: { value: 'v1.32.9+k3s1' } }, {}, /^error Kubernetes: .*v1\.32\.9.*1\.33 or later/],
    [
      'no default StorageClass',
      { storageClasses: { value: [named('fast')] } },
      {},
      /^error StorageClass: .*set builder\.cache/,
    ],
    [
      'a StorageClass that does not exist',
      {},
      { storageClasses: { 'environments.volumes.storageClass': 'slow' } },
      /^error StorageClass: there is no StorageClass slow, .*environments\.volumes\.storageClass.*fast, standard/,
    ],
    ['no IngressClass', { ingressClasses: { value: [] } }, {}, /^error IngressClass: .*Install an Ingress controller/],
    [
      'no default IngressClass',
      { ingressClasses: { value: [named('nginx')] } },
      {},
      /ingress\.className to one of: nginx/,
    ],
    [
      'another IngressClass',
      {},
      { ingress: { ...settings.ingress, className: 'traefik' } },
      /^error IngressClass: there is no IngressClass traefik.*nginx/,
    ],
    ['no Gateway', at(undefined), { ingress: attached }, /^error Gateway: there is no Gateway gateway\/web/],
    ['a Gateway that does not serve', at(gateway('False')), { ingress: attached }, /^error Gateway: .*no address/],
    [
      'no listener on the port',
      at(gateway('True')),
      { ingress: { ...attached, parentRefs: [{ namespace: 'gateway', name: 'web', port: 80 }] } },
      /^error Gateway: .*no listener.*https at 443/,
    ],
    [
      'no pod in the namespace of the Ingress controller',
      { ingressSlices: { value: [] } },
      {},
      /^error Ingress controller: no Service in the namespace ingress .*ingress\.controllerNamespace/,
    ],
    [
      'an Ingress controller in the host network',
      { ingressSlices: { value: [slice('nginx', ['172.18.0.2'], [80])] } },
      {},
      /^error Ingress controller: .*172\.18\.0\.2.*ingress\.controllerCidrs/,
    ],
    ['DNS in another namespace', { dnsServices: { value: [] } }, {}, /^error DNS: .*10\.96\.0\.10.*Set egress\.dns/],
    [
      'DNS pods with other labels',
      {},
      { dns: { ...settings.dns, podLabels: { 'k8s-app': 'coredns' } } },
      /^error DNS: egress\.dns\.podLabels/,
    ],
    [
      'DNS on another port',
      { dnsSlices: { value: [slice('kube-dns', ['10.244.0.3'], [5353, 9154])] } },
      {},
      /^error DNS: .*listen on 5353\. Add these to egress\.dns\.ports/,
    ],
    [
      'NodeLocal DNSCache',
      {
        dnsServices: {
          value: [
            ...facts.dnsServices.value,
            { metadata: { name: 'kube-dns-upstream' }, spec: { clusterIPs: ['10.96.0.11'] } },
          ],
        },
      },
      {},
      /^warning DNS: .*169\.254\.20\.10\/32 and 10\.96\.0\.10\/32 to egress\.dns\.cidrs/,
    ],
    [
      'networks of builds that contain nodes',
      {},
      { privateEgress: ['172.18.0.0/16'] },
      /^warning nodes: builder\.privateEgress contains nodes \(172\.18\.0\.2\).*kubelets and etcd/,
    ],
    [
      'networks of builds that contain pods',
      {},
      { privateEgress: ['10.244.0.0/16'] },
      /^warning nodes: 10\.244\.0\.0\/16 of builder/,
    ],
    [
      'networks of the Ingress controller that contain pods',
      {},
      { ingress: { ...settings.ingress, cidrs: ['10.244.0.128/25'] } },
      /^error nodes: 10\.244\.0\.128\/25 of ingress\.controllerCidrs contains pods/,
    ],
    [
      'nodes with public addresses',
      { nodes: { value: [...facts.nodes.value, node('192.0.2.7', [])] } },
      {},
      /^warning nodes: .*192\.0\.2\.7.*egress\.exceptCidrs/,
    ],
    [
      'pods with public IPv6 addresses',
      { nodes: { value: [...facts.nodes.value, node('fd00::2', ['2001:db8:1::/64'])] } },
      { egress: { ipv6: true, exceptCidrs: [] } },
      /^warning nodes: .*2001:db8:1::\/64.*egress\.exceptCidrs/,
    ],
    [
      'a registry that no node has used',
      {},
      { registry: 'other.example.com' },
      /^warning registry: no node has an image/,
    ],
    ['no metrics', { hasMetrics: { value: false } }, {}, /^warning metrics: .*Install metrics-server/],
    [
      'no admission policies',
      { hasAdmissionPolicies: { value: false } },
      {},
      /^error admission: .*admissionPolicy\.enabled/,
    ],
    [
      'a list that the operator has no permission to read',
      { storageClasses: { unknown: 'forbidden' } },
      {},
      /^warning StorageClass: not checked.*forbidden/,
    ],
  ])('%s', (_what, changed, configured, words) => {
    expect(problems(changed, configured)).toEqual([expect.stringMatching(words)]);
  });
});

test.each<[string, Partial<ClusterFacts>, Partial<CheckSettings>]>([
  ['a Gateway that serves', at(gateway('True')), { ingress: attached }],
  [
    'an Ingress controller in the host network, whose network is listed',
    { ingressSlices: { value: [slice('nginx', ['172.18.0.2'], [80])] } },
    { ingress: { ...settings.ingress, cidrs: ['172.18.0.0/16'] } },
  ],
  [
    'a load balancer outside of the cluster',
    { ingressSlices: { value: [] } },
    { ingress: { ...settings.ingress, cidrs: ['130.211.0.0/22'] } },
  ],
  [
    'a DNS server on each node',
    { nameservers: { value: ['169.254.20.10'] }, dnsServices: { value: [] } },
    { dns: { ...settings.dns, cidrs: ['169.254.20.10/32'] } },
  ],
  [
    "OpenShift's DNS",
    {
      nameservers: { value: ['172.30.0.10'] },
      dnsServices: {
        value: [
          { metadata: { name: 'dns-default' }, spec: { clusterIPs: ['172.30.0.10'], selector: { dns: 'default' } } },
        ],
      },
      dnsSlices: { value: [slice('dns-default', ['10.128.0.4'], [5353, 9154])] },
    },
    { dns: { namespace: 'openshift-dns', podLabels: { dns: 'default' }, cidrs: [], ports: [53, 5353] } },
  ],
  [
    'excluded public addresses of nodes, and IPv6 addresses if IPv6 is disabled',
    { nodes: { value: [...facts.nodes.value, node('192.0.2.7', []), node('2001:db8::7', [])] } },
    { egress: { ipv6: false, exceptCidrs: ['192.0.2.0/24'] } },
  ],
])('accepts %s', (_what, changed, configured) => {
  expect(problems(changed, configured)).toEqual([]);
});
