import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT_REQUESTS, requestAnnotation } from '../../crds/requests.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { HttpTransport } from '../../kubernetes/http-transport.ts';
import { resourcePath } from '../../kubernetes/resource-path.ts';
import {
  apiVersionOf,
  Namespace,
  RoleBinding,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { POLICY_TEMPLATES, rendered } from './admission-policies.ts';
import {
  createNamespace,
  deleteNamespace,
  deleteWidgetType,
  eventually,
  randomName,
  testClient,
  testKubeConfig,
  unlessNotFound,
} from './api-server.ts';
import { createOwnType, environmentTypeOf } from './own-types.ts';

// What members of a group and holders of the built-in roles can do with kubectl: the chart's roles and admission
// policy for kinds of the test's own, with requests that impersonate them. All requests are dry runs.

const type = environmentTypeOf('members');
const suffix = randomName('members');
const ann = `ann-${suffix}@example.com`;
const api = `system:serviceaccount:${suffix}:coppice-api`;
const rbac = 'rbac.authorization.k8s.io';
const clusterTypes: ResourceType[] = [
  { group: rbac, version: 'v1', kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].map((kind) => ({
    ...{ group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false },
    ...{
      kind,
      plural: kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : `${kind.toLowerCase()}s`,
    },
  })),
];

let client: ClusterClient;
/** Ann is a member of the group whose namespace is `own`, and not of the other one. */
let own: string;
let other: string;
/** The namespace of an environment of her group. */
let environment: string;
/** The namespace of another one, with the labels that Coppice gives it. */
const labelled = `env-${suffix}`;
const made: [ResourceType, string][] = [];
const users = new Map<string, HttpTransport>();

/** Sends a request as a user, of whom Kubernetes knows only the name. */
function as(user: string): HttpTransport {
  const held = users.get(user);
  if (held) return held;
  const config = testKubeConfig();
  const current = config.getCurrentUser();
  if (!current) throw new Error('the kubeconfig has no current user');
  config.users = [{ ...current, impersonateUser: user }];
  const transport = new HttpTransport(config, 'member-access-tests');
  users.set(user, transport);
  return transport;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function send(user: string, method: Method, path: string, body?: object, contentType?: string, query = {}) {
  const dryRun = method === 'GET' ? {} : { dryRun: 'All' };
  const sent = { method, path, query: { ...dryRun, ...query }, timeoutMs: 10_000 };
  return as(user).request({ ...sent, ...(body && { body, contentType: contentType ?? 'application/json' }) });
}

const environmentPath = (namespace: string, subresource?: 'status') =>
  resourcePath(type, { namespace, name: 'shop', ...(subresource && { subresource }) });
const patch = (user: string, body: object, namespace = own, subresource?: 'status') =>
  send(user, 'PATCH', environmentPath(namespace, subresource), body, 'application/merge-patch+json');
const annotate = (annotations: Record<string, string | null>) => patch(ann, { metadata: { annotations } });
const core = (resource: string, namespace = own) => `/api/v1/namespaces/${namespace}/${resource}`;
const named = { apiVersion: apiVersionOf(type), kind: type.kind };

function apply(manager: string, object: { metadata?: object; spec?: object }) {
  const query = { fieldManager: manager, force: true };
  const body = { ...named, ...object, metadata: { ...object.metadata, name: 'shop' } };
  return send(ann, 'PATCH', environmentPath(own), body, 'application/apply-patch+yaml', query);
}

async function make(of: ResourceType, object: KubernetesObject): Promise<void> {
  made.push([of, object.metadata.name]);
  await client.create(of, object);
}

async function bind(namespace: string, user: string, role: string): Promise<void> {
  await client.create(RoleBinding, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace, name: randomName('binding') },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
}

const gitRef = { name: 'main', type: 'branch' } as const;
const spec = { repository: 'shop', gitRef, active: true, buildOnCreate: false };
const labels = { team: 'shop' };

/** Adds an Environment that a GitOps tool applies. */
async function addEnvironment(namespace: string): Promise<void> {
  const metadata = { namespace, name: 'shop', labels, finalizers: ['example.com/held'] };
  await client.apply(type, { ...named, metadata, spec }, { fieldManager: 'flux', force: true });
}

beforeAll(async () => {
  client = testClient();
  [own, other, environment] = [
    await createNamespace(client),
    await createNamespace(client),
    await createNamespace(client),
  ];
  await createOwnType(client, type);
  await Promise.all([own, other].map(addEnvironment));
  const templates = ['members-rbac.yaml', 'api-rbac.yaml', ...POLICY_TEMPLATES];
  const objects = await rendered(templates, suffix, 'builders');
  for (const object of objects) {
    const of = clusterTypes.find(({ kind }) => kind === object.kind);
    if (!of || object.metadata.name.startsWith('coppice-operator')) continue;
    const text = JSON.stringify(object).replaceAll(/"coppice-([\w-]+)"/g, `"${suffix}-$1"`);
    await make(
      of,
      JSON.parse(
        text.replaceAll('"coppice.dev"', `"${type.group}"`).replaceAll("'coppice.dev'", `'${type.group}'`),
      ) as KubernetesObject,
    );
  }
  await bind(own, ann, `${suffix}-group-member`);
  await bind(own, api, `${suffix}-api`);
  await bind(environment, ann, `${suffix}-environment-member`);
  const ofCoppice = { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: suffix };
  await client.create(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: labelled, labels: ofCoppice },
  });
  for (const namespace of [environment, labelled]) await bind(namespace, api, `${suffix}-environment-api`);
  for (const role of ['view', 'edit', 'admin']) await bind(own, `${role}-${suffix}`, role);
  await eventually(async () => {
    const [member, editor] = await Promise.allSettled([
      annotate({ 'example.com/other': 'x' }),
      patch(`edit-${suffix}`, { metadata: { labels: { a: 'b' } } }),
    ]);
    if (member.status === 'fulfilled' || !String(member.reason).includes(suffix)) throw new Error('no policy in force');
    if (editor.status === 'rejected') throw new Error('edit is not aggregated', { cause: editor.reason });
    await patch(api, { metadata: { annotations: { [requestAnnotation('build')]: 'x' } } });
  }, 'the roles and the policy are in force');
}, 60_000);

afterAll(async () => {
  for (const [of, name] of made.reverse()) await client.delete(of, { name }).catch(unlessNotFound);
  for (const namespace of [own, other]) {
    await client.patch(type, { namespace, name: 'shop' }, { metadata: { finalizers: null } });
    await deleteNamespace(client, namespace);
  }
  for (const namespace of [environment, labelled]) await deleteNamespace(client, namespace);
  await deleteWidgetType(client, type);
  for (const one of [client, ...users.values()]) one.close();
});

describe('a member of the group', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['reads Environments', () => send(ann, 'GET', resourcePath(type, { namespace: own }))],
    ['reads Events', () => send(ann, 'GET', core('events'))],
    [
      'reads Events as `kubectl events` does',
      () => send(ann, 'GET', `/apis/events.k8s.io/v1/namespaces/${own}/events`),
    ],
    ['takes a request back', () => annotate({ [requestAnnotation('build')]: null })],
    ['sends a patch that changes nothing', () => patch(ann, { metadata: { labels: { team: 'shop' } } })],
  ])('%s', async (_what, act) => {
    await expect(act()).resolves.toBeDefined();
  });

  const commit = 'a'.repeat(40);
  test.each(ENVIRONMENT_REQUESTS)('can request %s', async (name) => {
    const end = name === 'approve' ? `${commit}/${ann}` : '60';
    const written = await annotate({ [`coppice.dev/request-${name}`]: `2026-01-01T00:00:00Z/ann/${end}` });
    expect(written).toMatchObject({
      metadata: { annotations: { [`coppice.dev/request-${name}`]: expect.any(String) } },
    });
  });

  const request = { [requestAnnotation('build')]: 'now/ann' };
  test.each<[string, () => Promise<unknown>]>([
    ['the spec', () => patch(ann, { spec: { active: false } })],
    ['the spec beside a request', () => patch(ann, { metadata: { annotations: request }, spec: { ttlSeconds: 1 } })],
    ['the spec as the GitOps tool', () => apply('flux', { metadata: { labels }, spec: { ...spec, active: false } })],
    ['labels', () => patch(ann, { metadata: { labels: { 'app.kubernetes.io/managed-by': 'coppice' } } })],
    ['existing labels', () => patch(ann, { metadata: { labels: { team: null } } })],
    ['finalizers', () => patch(ann, { metadata: { finalizers: null } })],
    [
      'owners',
      () =>
        patch(ann, {
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'x', uid: '1', controller: true }] },
        }),
    ],
    ['another annotation of Coppice', () => annotate({ 'coppice.dev/created-by': 'ann' })],
    ['the annotation of kubectl apply', () => annotate({ 'kubectl.kubernetes.io/last-applied-configuration': '{}' })],
    ['a request of an unknown kind', () => annotate({ 'coppice.dev/request-bulid': 'now/ann' })],
    ['a request of 129 characters', () => annotate({ [requestAnnotation('build')]: 'x'.repeat(129) })],
    ['an approval as somebody else', () => annotate({ [requestAnnotation('approve')]: `now/ann/${commit}/bob` })],
    ['an approval as nobody', () => annotate({ [requestAnnotation('approve')]: `now/ann/${commit}` })],
    [
      'an approval whose name only ends in the own one',
      () => annotate({ [requestAnnotation('approve')]: `now/ann/${commit}/bob/${ann}` }),
    ],
    ['an approval of a prefix', () => annotate({ [requestAnnotation('approve')]: `now/ann/aaaaaaa/${ann}` })],
    ['a large annotation beside it', () => annotate({ ...request, 'example.com/x': 'x'.repeat(100_000) })],
    ['the prefix of its name', () => patch(ann, { metadata: { generateName: 'x' } })],
    ['who applies it', () => patch(ann, { metadata: { managedFields: [{}] } })],
    // Neither an object that somebody else applies, nor its group, can be deleted through the REST API.
    ['who applies it, by applying a request', () => apply('ann', { metadata: { annotations: request } })],
    [
      'labels, by applying without them as the GitOps tool',
      () => apply('flux', { metadata: { annotations: request }, spec }),
    ],
  ])('cannot change %s', async (_what, act) => {
    await expect(act()).rejects.toThrow(`ValidatingAdmissionPolicy '${suffix}-environment-requests'`);
  });

  const podPath = `${core('pods')}/x`;
  test.each<[string, () => Promise<unknown>]>([
    ['patch the status', () => patch(ann, { status: { state: 'built' } }, own, 'status')],
    ['replace an Environment', () => send(ann, 'PUT', environmentPath(own), { ...named, metadata: { name: 'shop' } })],
    [
      'create one',
      () => send(ann, 'POST', resourcePath(type, { namespace: own }), { ...named, metadata: { name: 'x' } }),
    ],
    ['delete one', () => send(ann, 'DELETE', environmentPath(own))],
    ['request in another group', () => patch(ann, { metadata: { annotations: request } }, other)],
    ['read another group', () => send(ann, 'GET', environmentPath(other))],
    ['read Events elsewhere', () => send(ann, 'GET', core('events', other))],
    ['read Secrets', () => send(ann, 'GET', core('secrets'))],
    ['read ConfigMaps', () => send(ann, 'GET', core('configmaps'))],
    ['read a group', () => send(ann, 'GET', `/apis/${type.group}/v1alpha1/groups`)],
    ['enter a pod', () => send(ann, 'POST', `${podPath}/exec`)],
    ['forward a port', () => send(ann, 'POST', `${podPath}/portforward`)],
    ['have a token', () => send(ann, 'POST', `${core('serviceaccounts')}/default/token`)],
    ['create a pod', () => send(ann, 'POST', core('pods'), { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } })],
    [
      'write Events',
      () => send(ann, 'POST', core('events'), { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } }),
    ],
    [
      'bind roles',
      () => send(ann, 'POST', `/apis/${rbac}/v1/namespaces/${own}/rolebindings`, { metadata: { name: 'x' } }),
    ],
    [
      'patch Repositories',
      () =>
        send(
          ann,
          'PATCH',
          `/apis/${type.group}/v1alpha1/namespaces/${own}/repositories/x`,
          {},
          'application/merge-patch+json',
        ),
    ],
  ])('cannot %s', async (_what, act) => {
    await expect(act()).rejects.toMatchObject({ code: 403 });
  });

  test('cannot write a status by a permitted patch', async () => {
    await expect(patch(ann, { status: { state: 'built' } })).resolves.not.toHaveProperty('status');
  });
});

describe('a member in the namespace of an environment', () => {
  const readable = [
    ...['pods', 'services', 'events', 'persistentvolumeclaims'].map((one) => `/api/v1/*/${one}`),
    ...['deployments', 'replicasets', 'statefulsets'].map((one) => `/apis/apps/v1/*/${one}`),
    ...['/apis/batch/v1/*/jobs', '/apis/networking.k8s.io/v1/*/ingresses'],
    ...['/apis/discovery.k8s.io/v1/*/endpointslices', '/apis/events.k8s.io/v1/*/events'],
  ];
  const at = (path: string, namespace: string) => path.replace('*', `namespaces/${namespace}`);

  test.each(readable)('can read %s, and not those of another environment', async (path) => {
    await expect(send(ann, 'GET', at(path, environment))).resolves.toHaveProperty('items');
    await expect(send(ann, 'GET', at(path, other))).rejects.toMatchObject({ code: 403 });
  });

  test('can read the logs of a pod', async () => {
    await expect(send(ann, 'GET', `${core('pods', environment)}/x/log`)).rejects.toMatchObject({ code: 404 });
    await expect(send(ann, 'GET', `${core('pods', other)}/x/log`)).rejects.toMatchObject({ code: 403 });
  });

  const pod = () => `${core('pods', environment)}/x`;
  test.each<[string, () => Promise<unknown>]>([
    ['read Secrets', () => send(ann, 'GET', core('secrets', environment))],
    ['read ConfigMaps', () => send(ann, 'GET', core('configmaps', environment))],
    ['enter a pod', () => send(ann, 'POST', `${pod()}/exec`)],
    ['attach to a pod', () => send(ann, 'POST', `${pod()}/attach`)],
    ['forward a port', () => send(ann, 'POST', `${pod()}/portforward`)],
    ['reach a pod by the API server', () => send(ann, 'GET', `${pod()}/proxy/`)],
    ['reach a service by the API server', () => send(ann, 'GET', `${core('services', environment)}/x/proxy/`)],
    ['delete a pod', () => send(ann, 'DELETE', pod())],
    ['debug a pod', () => send(ann, 'PATCH', `${pod()}/ephemeralcontainers`, {}, 'application/merge-patch+json')],
    ['have a token', () => send(ann, 'POST', `${core('serviceaccounts', environment)}/default/token`)],
    [
      'patch a Deployment',
      () =>
        send(ann, 'PATCH', `/apis/apps/v1/namespaces/${environment}/deployments/x`, {}, 'application/merge-patch+json'),
    ],
  ])('cannot %s', async (_what, act) => {
    await expect(act()).rejects.toMatchObject({ code: 403 });
  });
});

test('lets the API approve as any account', async () => {
  const value = `now/id/${'a'.repeat(40)}/bob@example.com`;
  await expect(
    patch(api, { metadata: { annotations: { [requestAnnotation('approve')]: value } } }),
  ).resolves.toBeDefined();
});

describe('the API in the namespace of an environment', () => {
  const connect = (namespace: string, pod: string, how: string) =>
    // As a WebSocket does; a dry run is not supported.
    send(api, 'GET', `${core('pods', namespace)}/${pod}/${how}`, undefined, undefined, { command: 'sh', ports: 80 });

  test.each(['exec', 'portforward'])('connects to pods of services by %s', async (how) => {
    await expect(connect(labelled, 'web-7d4b9-abcde', how)).rejects.toMatchObject({ code: 404 });
    await expect(connect(labelled, 'build-1-7d4b9-abcde', how)).rejects.toMatchObject({ code: 404 });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['pods of builds', () => connect(labelled, 'build-1-abcde', 'exec')],
    ['pods of builds that are repeated', () => connect(labelled, 'build-3-retry-1-x7k2p', 'exec')],
    ['pods that measure volumes', () => connect(labelled, 'measure-12-0123456789-x7k2p', 'exec')],
    ['ports of pods of builds', () => connect(labelled, 'build-12-abcde', 'portforward')],
    ['pods where Coppice has not labelled the namespace', () => connect(environment, 'web-1', 'exec')],
  ])('does not connect to %s, although its role permits it', async (_what, act) => {
    await expect(act()).rejects.toThrow(`ValidatingAdmissionPolicy '${suffix}-api-connections'`);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['connect elsewhere', () => connect(own, 'web-1', 'exec')],
    ['attach', () => connect(labelled, 'web-1', 'attach')],
    ['reach a pod by the API server', () => send(api, 'GET', `${core('pods', labelled)}/web-1/proxy/`)],
    ['read Secrets', () => send(api, 'GET', core('secrets', labelled))],
    ['read a log', () => send(api, 'GET', `${core('pods', labelled)}/web-1/log`)],
  ])('cannot %s', async (_what, act) => {
    await expect(act()).rejects.toMatchObject({ code: 403 });
  });
});

test('lets the API change only requests', async () => {
  await expect(patch(api, { spec: { active: false } })).rejects.toThrow(`ValidatingAdmissionPolicy '${suffix}-`);
});

describe('the built-in roles', () => {
  const create = (user: string, namespace: string) => {
    const spec = { repository: 'shop', gitRef: { name: 'main', type: 'branch' } };
    const metadata = { namespace, name: 'another' };
    return send(user, 'POST', resourcePath(type, { namespace }), { ...named, metadata, spec });
  };

  test.each(['view', 'edit', 'admin'])('let %s read Environments', async (role) => {
    await expect(send(`${role}-${suffix}`, 'GET', environmentPath(own))).resolves.toBeDefined();
  });

  test.each(['edit', 'admin'])('let %s create, change and delete Environments', async (role) => {
    const user = `${role}-${suffix}`;
    await expect(create(user, own)).resolves.toBeDefined();
    await expect(patch(user, { spec: { active: false } })).resolves.toMatchObject({ spec: { active: false } });
    await expect(send(user, 'DELETE', environmentPath(own))).resolves.toBeDefined();
  });

  test('let view change nothing', async () => {
    await expect(create(`view-${suffix}`, own)).rejects.toMatchObject({ code: 403 });
    await expect(patch(`view-${suffix}`, { metadata: { annotations: {} } })).rejects.toMatchObject({ code: 403 });
  });

  test.each(['view', 'edit', 'admin'])(
    'give %s of one namespace no status, no Group and no other namespace',
    async (role) => {
      const user = `${role}-${suffix}`;
      const group = { apiVersion: apiVersionOf(type), kind: 'Group', metadata: { name: 'mine' }, spec: {} };
      const tries = [
        () => patch(user, { status: { state: 'built' } }, own, 'status'),
        () => send(user, 'POST', `/apis/${type.group}/v1alpha1/groups`, group),
        () => send(user, 'GET', `/apis/${type.group}/v1alpha1/groups`),
        () => create(user, other),
        () => send(user, 'GET', environmentPath(other)),
      ];
      for (const one of tries) await expect(one()).rejects.toMatchObject({ code: 403 });
    },
  );
});
