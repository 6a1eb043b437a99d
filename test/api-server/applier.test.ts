import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Applier } from '../../kubernetes/apply.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import {
  Deployment,
  Ingress,
  Job,
  LimitRange,
  NetworkPolicy,
  ResourceQuota,
  RoleBinding,
  Secret,
  Service,
  keyOf,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { reduced } from '../../operator/services/isolation/object-state.ts';
import { createNamespace, deleteNamespace, randomName, testClient } from './api-server.ts';

let client: ClusterClient;
let namespace: string;
const requests = { writes: 0 };
const options = { fieldManager: 'applier-test', hashAnnotation: 'runtime-test.example.org/applied' };

beforeAll(async () => {
  client = testClient({ observe: (method) => (requests.writes += Number(method !== 'GET')) });
  namespace = await createNamespace(client);
});

afterAll(async () => {
  await deleteNamespace(client, namespace);
  client.close();
});

function desired<T extends KubernetesObject>(type: ResourceType<T>, name: string, rest: object): [ResourceType<T>, T] {
  return [type, { metadata: { namespace, name, labels: { app: 'web' } }, ...rest } as unknown as T];
}

/** Returns one object of each type that an environment needs, some with quantities in a form that the API server rewrites. */
function objects() {
  const labels = { app: 'web' };
  const container = {
    name: 'web',
    image: 'web:1',
    env: [{ name: 'A', value: '1' }],
    ports: [{ containerPort: 8080 }],
    resources: { requests: { cpu: '1000m', memory: '1024Mi' } },
    readinessProbe: { httpGet: { path: '/', port: 8080 } },
  };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  return [
    desired(Deployment, 'web', { spec: { replicas: 1, selector: { matchLabels: labels }, template } }),
    desired(Job, 'build', { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } }),
    desired(Service, 'web', { spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] } }),
    desired(Secret, 'web', { stringData: { password: 'changeme' } }),
    desired(ResourceQuota, 'quota', { spec: { hard: { 'requests.cpu': '2000m', pods: '10' } } }),
    desired(LimitRange, 'limits', { spec: { limits: [{ type: 'Container', default: { cpu: '0.5' } }] } }),
    desired(NetworkPolicy, 'deny', { spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [] } }),
    desired(Ingress, 'web', {
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    }),
    desired(RoleBinding, 'members', {
      subjects: [{ kind: 'User', name: 'a@example.org', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    }),
  ] as unknown as [ResourceType, KubernetesObject][];
}

test('writes nothing when it applies again: no request, and no new version after a restart', async () => {
  const applier = new Applier({ client, ...options });
  const live = new Map<string, KubernetesObject>();
  requests.writes = 0;
  for (const [type, object] of objects()) {
    const { object: now, written } = await applier.apply(type, object, undefined);
    expect(written).toBe(true);
    live.set(type.kind + keyOf(object), now);
  }
  expect(requests.writes).toBe(objects().length);

  requests.writes = 0;
  for (const [type, object] of objects()) {
    const now = await client.get(type, { namespace, name: object.metadata.name });
    expect(await applier.apply(type, object, now)).toEqual({ object: now, written: false });
  }
  expect(requests.writes).toBe(0);

  const restarted = new Applier({ client, ...options });
  for (let round = 0; round < 2; round++) {
    requests.writes = 0;
    for (const [type, object] of objects()) {
      const now = await client.get(type, { namespace, name: object.metadata.name });
      const { written } = await restarted.apply(type, object, now);
      expect([type.kind, written]).toEqual([type.kind, false]);
      expect(now.metadata.generation).toBe(live.get(type.kind + keyOf(object))?.metadata.generation);
    }
  }
  expect(requests.writes).toBe(0);
});

/** Returns what changes with each write, except for those of Kubernetes to the status of a quota. */
function versionOf(object: KubernetesObject): string | undefined {
  return object.kind === ResourceQuota.kind ? reduced('ResourceQuota', object).state : object.metadata.resourceVersion;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Kinds of objects that the operator replaces. */
const replaced = ['Secret', 'ResourceQuota', 'LimitRange', 'NetworkPolicy', 'RoleBinding'];

test('gives an object that it replaces no new version if nothing changes', async () => {
  const applier = new Applier({ client, ...options });
  const whole = objects().filter(([type]) => replaced.includes(type.kind));
  expect(whole).toHaveLength(replaced.length);
  // An empty list, which the API server does not store, makes each replacement of a NetworkPolicy a new generation.
  for (const [, object] of whole) if ('spec' in object && isRecord(object.spec)) delete object.spec['ingress'];
  for (const [type, object] of whole) {
    const name = randomName('whole');
    const named = { ...object, metadata: { ...object.metadata, name } };
    const { object: created } = await applier.replace(type, named, { isNew: true });
    expect(created.metadata.managedFields).toMatchObject([{ manager: options.fieldManager, operation: 'Update' }]);
    // Wrong about whether it exists.
    const { object: again } = await applier.replace(type, named, { isNew: true });
    const { object: third } = await applier.replace(type, named, { isNew: false });
    expect([again, third].map(versionOf)).toEqual([versionOf(created), versionOf(created)]);
    // One that an older Coppice applied can be written once more.
    const older = { ...object, metadata: { ...object.metadata, name: randomName('applied') } };
    await applier.apply(type, older, undefined);
    const { object: first } = await applier.replace(type, older, { isNew: false });
    const { object: second } = await applier.replace(type, older, { isNew: false });
    expect([type.kind, versionOf(second)]).toEqual([type.kind, versionOf(first)]);
  }
});

test('removes by replacement what the object no longer names, and what others have added', async () => {
  const applier = new Applier({ client, ...options });
  const name = randomName('quota');
  const quota = (hard: object) => desired(ResourceQuota, name, { spec: { hard } })[1];
  await applier.replace(ResourceQuota, quota({ pods: '5', services: '5' }), { isNew: false });
  const drifted = await client.patch(ResourceQuota, { namespace, name }, { spec: { hard: { secrets: '5' } } });
  const { object, written } = await applier.replace(ResourceQuota, quota({ pods: '5' }), { live: drifted });
  expect([object.spec?.hard, written]).toEqual([{ pods: '5' }, true]);
});

test('does not remove by an apply what a replacement has set, so the two are never mixed', async () => {
  const applier = new Applier({ client, ...options });
  const name = randomName('mixed');
  const quota = (hard: object) => desired(ResourceQuota, name, { spec: { hard } })[1];
  await applier.replace(ResourceQuota, quota({ pods: '5', services: '5' }), { isNew: true });
  const { object } = await applier.apply(ResourceQuota, quota({ pods: '5' }), undefined);
  expect(object.spec?.hard).toEqual({ pods: '5', services: '5' });
});

test('removes a field that is no longer named, and restores one that somebody changed', async () => {
  const applier = new Applier({ client, ...options });
  const at = { namespace, name: 'drifting' };
  const labels = { app: 'drifting' };
  const service = (ports: object[]) => desired(Service, 'drifting', { spec: { selector: labels, ports } })[1];
  const http = { name: 'http', port: 80 };
  const { object } = await applier.apply(Service, service([http, { name: 'https', port: 443 }]), undefined);
  const { object: fewer } = await applier.apply(Service, service([http]), object);
  expect(fewer.spec?.ports).toMatchObject([http]);
  expect(fewer.spec?.ports).toHaveLength(1);

  const drifted = await client.patch(Service, at, { spec: { selector: { app: 'stolen' } } });
  const { object: fixed, written } = await applier.apply(Service, service([http]), drifted);
  expect([fixed.spec?.selector, written]).toEqual([labels, true]);

  const labelled = await client.patch(Service, at, { metadata: { labels: { other: 'yes' } } });
  expect((await applier.apply(Service, service([http]), labelled)).written).toBe(false);
});
