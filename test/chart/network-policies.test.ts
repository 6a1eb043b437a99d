import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyAddress, dnsEgress, publicNetworks } from '../../operator/shared/network-peers.ts';
import { objectOf, renderObjects, type Rendered } from './render.ts';
import { ALL_VALUES, EXISTING_VALUES, MIN_VALUES } from './sample-values.ts';

const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(z.strictObject({ key: z.string(), operator: z.literal('Exists') })).optional(),
});
const peerSchema = z.strictObject({
  podSelector: selectorSchema.optional(),
  namespaceSelector: selectorSchema.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
});
const portsSchema = z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: z.int() })).optional();
const policySchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.strictObject({
    podSelector: selectorSchema,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.strictObject({ from: z.array(peerSchema), ports: portsSchema })).default([]),
    egress: z.array(z.strictObject({ to: z.array(peerSchema), ports: portsSchema })).default([]),
  }),
});

/** The source or destination of a connection: a pod, or an address outside the cluster. */
type Tenant =
  | { namespace: string; labels: Record<string, string>; namespaceLabels?: Record<string, string> }
  | { address: string };

const own = (component: string): Tenant => ({
  namespace: 'coppice-system',
  labels: {
    'app.kubernetes.io/name': `coppice-${component}`,
    'app.kubernetes.io/instance': 'coppice',
    'app.kubernetes.io/part-of': 'coppice',
  },
});
const inNamespace = (namespace: string): Tenant => ({ namespace, labels: { app: 'any' } });
const peers = {
  api: own('api'),
  operator: own('operator'),
  redis: own('redis'),
  tester: own('tester'),
  tokens: own('registry-tokens'),
  waker: own('waker'),
  test: own('test'),
  doctor: own('doctor'),
  ingress: inNamespace('ingress'),
  prometheus: inNamespace('monitoring'),
  dns: { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
  nodeDns: { address: '169.254.20.10/32' },
  otherOfDnsNamespace: inNamespace('kube-system'),
  ingressOnNodes: { address: '10.2.0.0/16' },
  environment: inNamespace('env-shop-main--acme'),
  service: {
    namespace: 'env-shop-main--acme',
    labels: { 'coppice.dev/service': 'web' },
    namespaceLabels: { 'app.kubernetes.io/managed-by': 'coppice', 'coppice.dev/environment': 'shop-main' },
  },
  neighbour: inNamespace('coppice-system'),
  internet: { address: '0.0.0.0/0' },
} satisfies Record<string, Tenant>;

function selects(selector: z.infer<typeof selectorSchema> | undefined, labels: Record<string, string>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key }) => key in labels)
  );
}

function isMeant(peer: z.infer<typeof peerSchema>, tenant: Tenant, namespace: string): boolean {
  if ('address' in tenant) return peer.ipBlock?.cidr === tenant.address;
  if (peer.ipBlock) return false;
  const isThere = peer.namespaceSelector
    ? selects(peer.namespaceSelector, {
        'kubernetes.io/metadata.name': tenant.namespace,
        ...tenant.namespaceLabels,
      })
    : tenant.namespace === namespace;
  return isThere && selects(peer.podSelector, tenant.labels);
}

/** Decides like a CNI: the policies that select either end must permit it. */
function canReach(objects: readonly Rendered[], from: Tenant, to: Tenant, port: number): boolean {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map((object) => policySchema.parse(object));
  const allows = (one: Tenant, other: Tenant, direction: 'Ingress' | 'Egress') => {
    if ('address' in one) return true;
    const mine = policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === one.namespace &&
        spec.policyTypes.includes(direction) &&
        selects(spec.podSelector, one.labels),
    );
    if (mine.length === 0) return true;
    return mine.some(({ metadata: { namespace }, spec }) => {
      const rules =
        direction === 'Ingress'
          ? spec.ingress.map(({ from: peers, ports }) => ({ peers, ports }))
          : spec.egress.map(({ to: peers, ports }) => ({ peers, ports }));
      return rules.some(
        ({ peers, ports }) =>
          peers.some((peer) => isMeant(peer, other, namespace)) &&
          (ports === undefined || ports.some((rule) => rule.port === port)),
      );
    });
  };
  return allows(from, to, 'Egress') && allows(to, from, 'Ingress');
}

let objects: Rendered[];
beforeAll(async () => {
  objects = await renderObjects(ALL_VALUES);
});

test.each<[from: keyof typeof peers, to: keyof typeof peers, port: number, may: boolean]>([
  ['ingress', 'api', 3000, true],
  ['ingress', 'api', 3002, true],
  ['ingressOnNodes', 'api', 3002, true],
  ['environment', 'api', 3002, false],
  ['neighbour', 'api', 3002, false],
  ['test', 'api', 3002, false],
  ['prometheus', 'api', 3002, false],
  ['test', 'api', 3000, true],
  ['environment', 'api', 3000, false],
  ['neighbour', 'api', 3000, false],
  ['ingress', 'api', 3001, false],
  ['prometheus', 'api', 3001, true],
  ['prometheus', 'operator', 3001, true],
  ['prometheus', 'api', 3000, false],
  ['environment', 'operator', 3001, false],
  ['api', 'redis', 6379, true],
  ['operator', 'redis', 6379, true],
  ['test', 'redis', 6379, false],
  ['environment', 'redis', 6379, false],
  ['neighbour', 'redis', 6379, false],
  ['redis', 'internet', 443, false],
  ['redis', 'dns', 53, false],
  ['api', 'dns', 53, true],
  ['api', 'nodeDns', 53, true],
  ['api', 'otherOfDnsNamespace', 53, false],
  ['ingressOnNodes', 'api', 3000, true],
  ['ingressOnNodes', 'api', 3001, false],
  ['tester', 'ingressOnNodes', 443, true],
  ['operator', 'dns', 53, true],
  ['operator', 'internet', 443, true],
  ['operator', 'internet', 22, true],
  ['operator', 'internet', 6443, true],
  ['operator', 'internet', 5000, true],
  ['operator', 'internet', 5001, true],
  ['operator', 'internet', 8080, false],
  ['api', 'internet', 6443, true],
  ['api', 'internet', 8443, true],
  ['api', 'internet', 80, false],
  ['operator', 'api', 3000, false],
  ['test', 'internet', 443, false],
  ['test', 'internet', 6443, false],
  ['doctor', 'internet', 6443, true],
  ['doctor', 'api', 3000, false],
  ['doctor', 'redis', 6379, false],
  ['ingress', 'tokens', 3000, true],
  ['prometheus', 'tokens', 3001, true],
  ['ingress', 'tokens', 3001, false],
  ['environment', 'tokens', 3000, false],
  ['tokens', 'redis', 6379, false],
  ['tokens', 'internet', 443, false],
  ['tokens', 'internet', 6443, false],
  ['tokens', 'dns', 53, false],
  ['ingress', 'waker', 3002, true],
  ['ingress', 'waker', 3003, false],
  ['operator', 'waker', 3003, true],
  ['api', 'waker', 3003, false],
  ['neighbour', 'waker', 3003, false],
  ['environment', 'waker', 3002, false],
  ['environment', 'waker', 3003, false],
  ['prometheus', 'waker', 3001, true],
  ['waker', 'service', 8080, true],
  ['waker', 'environment', 8080, false],
  ['waker', 'operator', 3001, false],
  ['waker', 'redis', 6379, false],
  ['waker', 'dns', 53, false],
  ['waker', 'internet', 443, false],
  ['waker', 'internet', 6443, false],
  ['api', 'tester', 3000, true],
  ['operator', 'tester', 3000, true],
  ['environment', 'tester', 3000, false],
  ['neighbour', 'tester', 3000, false],
  ['tester', 'redis', 6379, true],
  ['tester', 'dns', 53, true],
  ['tester', 'ingress', 443, true],
  ['tester', 'api', 3000, false],
  ['tester', 'internet', 443, false],
])('%s to %s at port %d: %s', (from, to, port, may) => {
  expect(canReach(objects, peers[from], peers[to], port)).toBe(may);
});

test('permits an external Redis at its port', async () => {
  const outside = await renderObjects(EXISTING_VALUES);
  expect(canReach(outside, peers.internet, peers.internet, 1)).toBe(true);
  expect(canReach(outside, own('api'), peers.internet, 6380)).toBe(true);
  expect(canReach(objects, own('api'), peers.internet, 6380)).toBe(false);
});

test('permit builders the same public networks as environments', async () => {
  const egressOf = (all: readonly Rendered[]) =>
    policySchema.parse(objectOf(all, 'NetworkPolicy', 'builders')).spec.egress[1]?.to.slice(0, 2);
  const exceptCidrs = ['192.0.2.0/24', '2001:db8::/48'];
  expect(egressOf(objects)).toEqual(publicNetworks({ ipv6: true, exceptCidrs }));
  const [ipv4, ...others] = egressOf(await renderObjects(MIN_VALUES)) ?? [];
  expect([ipv4]).toEqual(publicNetworks({ ipv6: false, exceptCidrs: [] }));
  expect(others).toEqual([]);
});

test('permit DNS where the values say, for every pod that has DNS, in the chart as in environments', async () => {
  const dns = {
    namespace: 'openshift-dns',
    podLabels: { 'dns.operator.openshift.io/daemonset-dns': 'default' },
    cidrs: ['169.254.20.10/32', 'fd00::10/128'],
    ports: [53, 5353],
  };
  const values = { ...ALL_VALUES, egress: { ...ALL_VALUES.egress, dns } };
  const policies = (await renderObjects(values)).filter(({ kind }) => kind === 'NetworkPolicy');
  const isDns = ({ ports = [] }: { ports?: z.infer<typeof portsSchema> }) =>
    ports.some(({ protocol }) => protocol === 'UDP');
  const rules = policies.flatMap((object) =>
    policySchema
      .parse(object)
      .spec.egress.filter(isDns)
      .map((rule) => [object.metadata.name, rule] as const),
  );
  const names = ['builders', 'coppice-api', 'coppice-doctor', 'coppice-operator', 'coppice-test', 'coppice-tester'];
  expect(rules.map(([name]) => name).sort()).toEqual(names);
  for (const [, rule] of rules) expect(rule).toEqual(dnsEgress({ dns, ipv6: true, exceptCidrs: [] }));
  expect(JSON.stringify(policies)).not.toContain('kube-system');
});

test('permit the operator the same addresses as the clones of builds, and Services both families', () => {
  const { egress } = policySchema.parse(objectOf(objects, 'NetworkPolicy', 'coppice-operator')).spec;
  const toAny = egress.filter(({ to }) => to.some(({ ipBlock }) => ipBlock?.except));
  expect(toAny.map(({ to }) => to)).toEqual([anyAddress()]);
  for (const name of ['coppice-api', 'coppice-registry-tokens']) {
    expect(objectOf(objects, 'Service', name)['spec']).toMatchObject({ ipFamilyPolicy: 'PreferDualStack' });
  }
});

test('permit no address at which a cloud serves credentials', () => {
  const texts = objects.filter(({ kind }) => kind === 'NetworkPolicy').map((object) => policySchema.parse(object));
  const open = texts
    .flatMap(({ spec }) => spec.egress)
    .filter(({ ports }) => ports?.some(({ port }) => port === 80) ?? true)
    .flatMap(({ to }) => to)
    .flatMap(({ ipBlock }) => (ipBlock?.cidr === '0.0.0.0/0' ? [ipBlock] : []));
  expect(open.length).toBeGreaterThan(0);
  for (const { except } of open) expect(except).toEqual(expect.arrayContaining(['169.254.0.0/16']));
});
