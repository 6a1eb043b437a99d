import { expect, test } from '@jest/globals';
import { LABELS } from '../../../crds/labels.ts';
import type { NetworkPolicy } from '../../../kubernetes/resource-type.ts';
import { deployment } from './deployment.ts';
import { isServicePolicy, networkPolicies } from './network-policies.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';

const services = [
  sampleService({ name: 'web', networks: ['front'] }),
  sampleService({ name: 'api', networks: ['Back_End', 'front'] }),
  sampleService({ name: 'db', networks: ['Back_End'] }),
  sampleService({ name: 'alone', networks: [] }),
];
const context = sampleContext({ services, publicRoutes: [{ service: 'web', port: 80, path: '/' }] });
const policies = networkPolicies(context);

const labelsOf = (name: string) =>
  deployment(
    context,
    services.find((one) => one.name === name)!,
    1,
  ).spec!.template.metadata!.labels!;

function selects(selector: { matchLabels?: Record<string, string> } | undefined, name: string): boolean {
  return Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labelsOf(name)[key] === value);
}

/** Decides like a CNI: the policies of both ends must permit it. */
function canReach(from: string, to: string): boolean {
  const leaves = policies.some(
    ({ spec }) =>
      selects(spec?.podSelector, from) &&
      spec?.egress?.some((rule) => rule.to?.some((peer) => selects(peer.podSelector, to))),
  );
  const enters = policies.some(
    ({ spec }) =>
      selects(spec?.podSelector, to) &&
      spec?.ingress?.some((rule) => rule.from?.some((peer) => peer.podSelector && selects(peer.podSelector, from))),
  );
  return leaves && enters;
}

test.each([
  ['web', 'api', true],
  ['api', 'db', true],
  ['web', 'db', false],
  ['db', 'web', false],
  ['alone', 'api', false],
  ['api', 'alone', false],
])('lets %s reach %s: %s', (from, to, expected) => {
  expect(canReach(from, to)).toBe(expected);
});

test('lets the Ingress controller reach only the ports of public services', () => {
  const fromIngress = policies.filter(({ spec }) =>
    spec?.ingress?.some((rule) => rule.from?.some((peer) => peer.namespaceSelector)),
  );
  expect(fromIngress).toHaveLength(1);
  expect(fromIngress[0]?.spec).toMatchObject({
    podSelector: { matchLabels: { [LABELS.service]: 'web' } },
    ingress: [{ ports: [{ protocol: 'TCP', port: 80 }] }],
  });
});

test('admits an Ingress controller outside of the pod network by its networks', () => {
  const ingress = { ...context.settings.ingress, cidrs: ['10.1.0.0/16', 'fd01::/64'] };
  const policy = networkPolicies({ ...context, settings: { ...context.settings, ingress } }).find(({ metadata }) =>
    metadata.name.startsWith('public-'),
  );
  expect(policy?.spec?.ingress?.[0]?.from?.slice(1)).toEqual([
    { ipBlock: { cidr: '10.1.0.0/16' } },
    { ipBlock: { cidr: 'fd01::/64' } },
  ]);
});

test('marks a service without a network so that the isolation policies permit nothing out', () => {
  expect(labelsOf('alone')).toHaveProperty([LABELS.offline], 'true');
  expect(labelsOf('web')).not.toHaveProperty([LABELS.offline]);
});

test('differ from the isolation policies', () => {
  const named = (name: string) => ({ metadata: { name } }) as NetworkPolicy;
  expect(policies.every(isServicePolicy)).toBe(true);
  expect(['default-deny', 'services', 'builds'].map(named).some(isServicePolicy)).toBe(false);
});
