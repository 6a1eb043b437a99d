import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Environment } from '../../crds/environment.ts';
import { ANNOTATIONS, FIELD_MANAGERS } from '../../crds/labels.ts';
import { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import {
  LimitRange,
  Namespace,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { operatorCaches } from '../../operator/controllers/caches.ts';
import { EnvironmentNamespace } from '../../operator/kinds/environment/namespace/environment-namespace.ts';
import { scopeOf } from '../../operator/kinds/environment/testing/scope.ts';
import { IsolationStates } from '../../operator/services/isolation/isolation-states.ts';
import { deleteNamespace, eventually, randomName, testClient } from './api-server.ts';
import { DEFAULT_EGRESS } from '../../operator/shared/testing/default-egress.ts';

/** The isolation of an environment against a real API server, whose responses and watches contain managed fields. */
const group = randomName('isolation');
const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop', namespace: `group-${group}`, uid: 'd5d86d4e-5a4c-4b3e-9f0b-0a1b2c3d4e5f' },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
};
const scope = () => scopeOf(structuredClone(environment), () => new Date());
const { namespace } = scope();
const policy = { namespace, name: 'default-deny' };
const limits = { namespace, name: 'environment' };
const binding = { namespace, name: 'members' };
const enforce = 'pod-security.kubernetes.io/enforce';

let client: ClusterClient;
let writes: string[];
let restored: string[];
/** One run of the operator: its watches, and its state. */
let operator: { contents: EnvironmentNamespace; stop: () => Promise<void> };

async function startOperator(): Promise<typeof operator> {
  const logger = pino({ enabled: false });
  const caches = operatorCaches(client, 'none', logger, new RuntimeMetrics());
  const { namespaces, isolationPolicies, limitRanges, resourceQuotas, memberBindings } = caches;
  const watched = [namespaces, isolationPolicies, limitRanges, resourceQuotas, memberBindings];
  for (const one of watched) one.start();
  await Promise.all(watched.map((one) => one.whenSynced()));
  const applier = new Applier({
    client,
    fieldManager: FIELD_MANAGERS.operator,
    hashAnnotation: ANNOTATIONS.appliedHash,
  });
  const states = {
    ...{ NetworkPolicy: isolationPolicies, LimitRange: limitRanges, ResourceQuota: resourceQuotas },
    RoleBinding: memberBindings,
  };
  const contents = new EnvironmentNamespace(client, applier, namespaces, new IsolationStates(states), {
    isolation: {
      ...{ builderNamespace: 'builders', buildkitdPort: 1234, clonePorts: [443], egress: DEFAULT_EGRESS },
      ...{ quota: { pods: '5', 'requests.cpu': '1000m' }, defaultRequests: { cpu: '10m' } },
      defaultLimits: { memory: '1Gi' },
    },
    membersAccess: () => ({
      role: 'coppice-environment-member',
      members: ['ann@example.com'],
      serviceAccount: { namespace: 'coppice-system', name: 'coppice-api' },
    }),
    apiAccess: () => undefined,
    onRestored: (_scope, what) => void restored.push(what),
    pullSecret: ({ labels }) =>
      Promise.resolve({
        secret: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'registry', labels } },
      }),
    hashKey: () => Promise.resolve(Buffer.from('key')),
  });
  return { contents, stop: async () => void (await Promise.all(watched.map((one) => one.stop()))) };
}

beforeAll(async () => {
  client = testClient({ observe: (method) => void (method === 'GET' || writes.push(method)) });
  writes = [];
  operator = await startOperator();
  await operator.contents.ensure(scope());
}, 60_000);

beforeEach(() => {
  writes = [];
  restored = [];
});

afterAll(async () => {
  await operator.stop();
  await deleteNamespace(client, namespace);
  client.close();
});

/** Reconciles until the operator has nothing to write. */
const settled = () =>
  eventually(async () => {
    writes = [];
    await operator.contents.ensure(scope());
    if (writes.length > 0) throw new Error(`it wrote ${writes.join(', ')}`);
  }, 'nothing is left to write');

test('does not apply again what it just applied, also after the watches have reported it', async () => {
  await operator.contents.ensure(scope());
  expect(writes).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await operator.contents.ensure(scope());
  expect(writes).toEqual([]);
});

test("writes nothing for a change of a quota's usage", async () => {
  const status = { hard: { pods: '5' }, used: { pods: '3' } };
  await client.patchStatus(ResourceQuota, limits, { status });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  writes = [];
  await operator.contents.ensure(scope());
  expect(writes).toEqual([]);
});

interface Change {
  type: ResourceType;
  at: { namespace?: string; name: string };
  body: object;
}

const changes: [string, Change][] = [
  [
    'a policy lets all in, and gets a label',
    { type: NetworkPolicy, at: policy, body: { metadata: { labels: { a: 'b' } }, spec: { ingress: [{}] } } },
  ],
  [
    'the quota is raised, and gets a part',
    { type: ResourceQuota, at: limits, body: { spec: { hard: { pods: '500', services: '9' } } } },
  ],
  ['the quota loses a part', { type: ResourceQuota, at: limits, body: { spec: { hard: { pods: null } } } }],
  ['the limits are emptied', { type: LimitRange, at: limits, body: { spec: { limits: [] } } }],
  ['the members are others', { type: RoleBinding, at: binding, body: { subjects: [] } }],
  ['a policy loses its labels', { type: NetworkPolicy, at: policy, body: { metadata: { labels: null } } }],
  [
    'Pod Security is taken away',
    { type: Namespace, at: { name: namespace }, body: { metadata: { labels: { [enforce]: 'privileged' } } } },
  ],
];

describe.each(['while it runs', 'while no operator runs'])('an object changed %s is restored:', (when) => {
  const contentOf = (object: KubernetesObject & { spec?: unknown; subjects?: unknown }) => [
    object.metadata.labels,
    object.spec,
    object.subjects,
  ];

  test.each(changes)('%s', async (_what, { type, at, body }) => {
    const before = contentOf(await client.get(type, at));
    if (when === 'while no operator runs') await operator.stop();
    await client.patch(type, at, body);
    expect(contentOf(await client.get(type, at))).not.toEqual(before);
    if (when === 'while no operator runs') operator = await startOperator();
    await eventually(async () => {
      await operator.contents.ensure(scope());
      expect(contentOf(await client.get(type, at))).toEqual(before);
    }, 'it is as before');
    expect(restored).toHaveLength(1);
    await settled();
  });

  test.each<[string, ResourceType, { namespace: string; name: string }]>([
    ['a policy', NetworkPolicy, policy],
    ['the quota', ResourceQuota, limits],
    ['the limits', LimitRange, limits],
  ])('%s, deleted', async (_what, type, at) => {
    if (when === 'while no operator runs') await operator.stop();
    await client.delete(type, at);
    if (when === 'while no operator runs') operator = await startOperator();
    await eventually(async () => {
      await operator.contents.ensure(scope());
      expect(await client.find(type, at)).toBeDefined();
    }, 'it is there again');
    await settled();
  });
});
