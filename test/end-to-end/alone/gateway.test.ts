import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { environmentNamespace } from '../../../crds/environment-address.ts';
import { send } from '../../client/local-http.ts';
import { moduleSources } from '../../cluster/go/go-workspace.ts';
import { apply, rollout } from '../../cluster/kubectl.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { setValues } from '../../cluster/set-values.ts';
import { waitFor } from '../../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

/** The release attaches to a Gateway of Traefik's instead of having Ingresses, and returns to Ingresses. */
let harness: Harness;
let id: string;
let weburl: string;
let aliasUrl: string;
let definitions: string[];

const group = 'gateway.networking.k8s.io';
const rolesOfTraefik = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'traefik-gateway' },
  rules: [
    { apiGroups: [group], resources: ['*'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [group], resources: ['gatewayclasses/status', 'gateways/status'], verbs: ['update'] },
    {
      apiGroups: [group],
      resources: ['httproutes/status', 'grpcroutes/status', 'backendtlspolicies/status'],
      verbs: ['update'],
    },
  ],
};
const bindingOfTraefik = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'traefik-gateway' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'traefik-gateway' },
  subjects: [{ kind: 'ServiceAccount', name: 'traefik', namespace: 'traefik' }],
};
const gatewayClass = {
  apiVersion: `${group}/v1`,
  kind: 'GatewayClass',
  metadata: { name: 'traefik' },
  spec: { controllerName: 'traefik.io/gateway-controller' },
};
const accepts = (label: string, value: string) => ({
  namespaces: { from: 'Selector', selector: { matchLabels: { [label]: value } } },
});
/** A Gateway as the guide describes it; `managedBy` is the label of namespaces that can attach routes for environments. */
const gateway = (managedBy: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'traefik' },
  spec: {
    gatewayClassName: 'traefik',
    listeners: [
      {
        ...{ name: 'environments', protocol: 'HTTP', port: 80, hostname: '*.env.localhost' },
        allowedRoutes: accepts('app.kubernetes.io/managed-by', managedBy),
      },
      {
        ...{ name: 'coppice', protocol: 'HTTP', port: 80 },
        allowedRoutes: accepts('kubernetes.io/metadata.name', 'coppice-system'),
      },
    ],
  },
});
const manifest = (...objects: object[]) => objects.map((object) => stringify(object)).join('---\n');

const page = {
  'compose.yaml': `services:
  web:
    build: .
    ports: ['8080:8080']
    x-coppice: { public: [{ port: 8080 }, { port: 8080, alias: admin }] }
`,
  Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD exec httpd -f -p 8080 -h /www\n',
  'index.html': 'Hello through the Gateway\n',
};

/** Upgrades the release to attach to these Gateways; to Ingresses with none. */
async function attachTo(parentRefs: object[]): Promise<void> {
  await setValues(harness.connection.kubeconfig, { 'ingress.parentRefs': parentRefs });
  await waitFor('the API to answer', 60, async () =>
    (await harness.client.send('GET', '/api/groups')).status === 200 ? true : undefined,
  );
}

async function changeTraefik(...operations: object[]): Promise<void> {
  const { kubectl } = harness;
  const patch = ['--type', 'json', '--patch', JSON.stringify(operations)];
  await kubectl(['--namespace', 'traefik', 'patch', 'deployment', 'traefik', ...patch]);
  await rollout(kubectl, 'traefik', 'traefik');
}

const argumentsPath = '/spec/template/spec/containers/0/args';
const namesOf = (kind: string) =>
  harness.kubectl(['--namespace', namespaceOf(id), 'get', kind, '--output', 'jsonpath={.items[*].metadata.name}']);

beforeAll(async () => {
  harness = await startHarness('gateway');
  const { kubectl } = harness;
  id = await harness.spawn(await harness.addRepository('page', await harness.push('page', 'main', page)), 'main');
  const environment = await harness.built(id);
  ({ weburl } = environment);
  aliasUrl = environment.aliases['admin'] ?? '';
  await pageWith(weburl, 'Hello through');
  definitions = globSync(join(await moduleSources('sigs.k8s.io/gateway-api'), 'config/crd/standard/*.yaml'));
  for (const file of definitions) await kubectl(['apply', '--server-side', '--filename', file]);
  await apply(kubectl, manifest(rolesOfTraefik, bindingOfTraefik, gatewayClass, gateway('coppice')));
  await changeTraefik({ op: 'add', path: `${argumentsPath}/-`, value: '--providers.kubernetesgateway=true' });
  await attachTo([{ name: 'web', namespace: 'traefik', port: 80 }]);
}, 600_000);

afterAll(async () => {
  const { kubectl } = harness;
  await attachTo([]);
  await kubectl([
    'apply',
    '--server-side',
    '--force-conflicts',
    '--field-manager',
    'coppice-up',
    '--filename',
    traefik,
  ]);
  await rollout(kubectl, 'traefik', 'traefik');
  await kubectl(['delete', 'clusterrole,clusterrolebinding', 'traefik-gateway']);
  for (const file of definitions) await kubectl(['delete', '--ignore-not-found', '--filename', file]);
  await pageWith(weburl, 'Hello through', 60);
  await harness.remove();
}, 400_000);
const traefik = join(REPOSITORY_ROOT, 'test/cluster/network/traefik.yaml');

test("opens an environment's page and its alias by HTTPRoutes, which have replaced its Ingress", async () => {
  await waitFor('HTTPRoutes instead of the Ingress', 60, async () => {
    const found = [await namesOf('httproutes'), await namesOf('ingresses')];
    return found.join() === 'web web-admin,' ? true : undefined;
  });
  await pageWith(weburl, 'Hello through');
  await pageWith(aliasUrl, 'Hello through');
  expect(await harness.kubectl(['get', 'ingresses', '--all-namespaces', '--output', 'name'])).not.toContain('coppice');
}, 120_000);

test('an environment sleeps, and wakes on a visit through the Gateway', async () => {
  const ofEnvironment = ['--namespace', namespaceOf(id)];
  expect((await harness.client.send('POST', `/api/environment/${id}/sleep`)).status).toBe(202);
  await waitFor('its pods to end', 60, async () => {
    const pods = await harness.kubectl([...ofEnvironment, 'get', 'pods', '--output', 'name']);
    return pods.trim() === '' ? true : undefined;
  });
  const visits = Array.from({ length: 10 }, (_none, index) =>
    send(index % 2 === 0 ? weburl : aliasUrl, { timeoutMs: 60_000 }),
  );
  const answers = (await Promise.all(visits)).map(({ status, text }) => [status, text.includes('Hello through')]);
  expect(answers).toEqual(answers.map(() => [200, true]));
  await waitFor('the waker to be out of the way', 60, async () =>
    (await namesOf('endpointslices')).includes('waker-') ? undefined : true,
  );
  await pageWith(weburl, 'Hello through');
}, 180_000);

test('builds and deploys a new environment', async () => {
  const origin = await harness.push('page', 'next', { ...page, 'index.html': 'Built behind the Gateway\n' });
  const next = await harness.spawn(await harness.addRepository('next', origin), 'next');
  await pageWith((await harness.built(next)).weburl, 'Built behind the Gateway');
}, 420_000);

test('restores a deleted and a changed HTTPRoute', async () => {
  const { kubectl } = harness;
  const ofEnvironment = ['--namespace', namespaceOf(id)];
  await kubectl([...ofEnvironment, 'delete', 'httproute', 'web']);
  const patch = JSON.stringify({ spec: { hostnames: ['elsewhere.env.localhost'] } });
  await kubectl([...ofEnvironment, 'patch', 'httproute', 'web-admin', '--type', 'merge', '--patch', patch]);
  await pageWith(weburl, 'Hello through', 60);
  await pageWith(aliasUrl, 'Hello through', 60);
}, 150_000);

test('reports that the Gateway refuses its routes, until it accepts them', async () => {
  const { client, kubectl } = harness;
  const reports = (words: RegExp, status: string) =>
    client.waitForEnvironment(
      id,
      (environment) => {
        const available = conditionOf(environment, 'Available');
        return available?.status === status && words.test(available.message);
      },
      60,
    );
  await apply(kubectl, manifest(gateway('somebody-else')));
  await reports(/the Gateway traefik\/web refuses the route \(/, 'False');
  await apply(kubectl, manifest(gateway('coppice')));
  await reports(/every service is ready/, 'True');
  await pageWith(weburl, 'Hello through', 60);
}, 150_000);

describe('with restricted access', () => {
  const header = 'x-coppice-environment-access';
  const tokenSchema = z.looseObject({ token: z.string() });
  const setAccess = (of: string, access: string | null) =>
    harness.client.call(z.unknown(), 'POST', `/api/environment/${of}/access`, { access });
  const statusOf = async (url: string, headers: Record<string, string> = {}) => (await send(url, { headers })).status;
  const answers = (urls: readonly string[], status: number) =>
    waitFor(`all hosts to answer ${status}`, 30, async () => {
      const found = await Promise.all(urls.map((url) => statusOf(url)));
      if (found.some((one) => one !== status)) throw new Error(`they answer ${found.join(', ')}`);
      return true;
    });
  /** An environment whose name is so long that its namespace has a hash instead of two hyphens. */
  let hashed: string;
  let namespace: string;
  let urls: string[];

  beforeAll(async () => {
    const origin = await harness.push('page', 'main', page);
    const name = `page-${'x'.repeat(35)}`;
    hashed = await harness.spawn(await harness.addRepository(name, origin), 'main');
    const environment = await harness.built(hashed);
    urls = [environment.weburl, environment.aliases['admin'] ?? ''];
    namespace = environmentNamespace({ group: harness.group, name: hashed.slice(harness.group.length + 1) });
    expect(namespace).not.toContain('--');
    for (const url of urls) await pageWith(url, 'Hello through');
  }, 300_000);

  test('refuses an environment whose middleware Traefik would not find, which is then not published', async () => {
    await setAccess(id, 'members');
    await harness.client.waitForEnvironment(
      id,
      (environment) => conditionOf(environment, 'Stalled')?.reason === 'AccessNotEnforced',
      30,
    );
    await answers([weburl, aliasUrl], 404);
    await setAccess(id, null);
    await answers([weburl, aliasUrl], 200);
  }, 120_000);

  test('refuses strangers at every host, and opens with a token', async () => {
    await setAccess(hashed, 'members');
    await answers(urls, 401);
    const [url = ''] = urls;
    expect((await send(url, { headers: { accept: 'text/html' } })).headers.location).toMatch(/\/access\?host=/);
    const { token } = await harness.client.call(tokenSchema, 'POST', `/api/environment/${hashed}/share`);
    for (const one of urls) expect(await statusOf(one, { [header]: token })).toBe(200);
    const forged = { 'x-forwarded-host': 'unknown', 'x-forwarded-uri': '/.coppice/access' };
    expect(await statusOf(url, forged)).toBe(401);
  }, 60_000);

  test('stays closed while the middleware or the filters are missing, and restores them', async () => {
    const { kubectl } = harness;
    const ofEnvironment = ['--namespace', namespace];
    const statuses = new Set<number>();
    const watching = (async () => {
      for (const end = Date.now() + 6000; Date.now() < end;) statuses.add(await statusOf(urls[0] ?? ''));
    })();
    await kubectl([...ofEnvironment, 'delete', 'middleware.traefik.io', 'coppice-access']);
    await watching;
    expect([...statuses].filter((status) => ![401, 404, 500].includes(status))).toEqual([]);
    await answers(urls, 401);
    const path = '/spec/rules/0/filters';
    const remove = JSON.stringify([{ op: 'remove', path }]);
    await kubectl([...ofEnvironment, 'patch', 'httproute', 'web', '--type', 'json', '--patch', remove]);
    const filters = [...ofEnvironment, 'get', 'httproute', 'web', '--output', 'jsonpath={.spec.rules[0].filters}'];
    await waitFor('the filter to be restored', 10, async () => ((await kubectl(filters)) === '' ? undefined : true));
    await answers(urls, 401);
  }, 90_000);

  test('opens to everybody again', async () => {
    await setAccess(hashed, null);
    await answers(urls, 200);
    const list = ['--namespace', namespace, 'get', 'middlewares.traefik.io', '--output', 'name'];
    expect((await harness.kubectl(list)).trim()).toBe('');
  }, 60_000);
});

const namespaceOfOthers = 'coppice-system';
const route = (spec: object, namespace = namespaceOf(id)) => ({
  apiVersion: `${group}/v1`,
  kind: 'HTTPRoute',
  metadata: { name: 'tried', namespace, labels: { 'app.kubernetes.io/managed-by': 'coppice' } },
  spec: {
    parentRefs: [{ name: 'web', namespace: 'traefik' }],
    hostnames: ['tried.env.localhost'],
    rules: [{ backendRefs: [{ name: 'web', port: 8080 }] }],
    ...spec,
  },
});

test('lets the operator create routes of environments only', async () => {
  const tryAs = (object: object) =>
    harness.kubectl(
      [
        ...['apply', '--server-side', '--dry-run=server', '--field-manager', 'test', '--filename', '-'],
        ...['--as', 'system:serviceaccount:coppice-system:coppice-operator'],
      ],
      { input: JSON.stringify(object) },
    );
  const toMiddleware = {
    type: 'ExtensionRef',
    extensionRef: { group: 'traefik.io', kind: 'Middleware', name: 'coppice-access' },
  };
  await tryAs(route({}));
  await tryAs(route({ rules: [{ filters: [toMiddleware], backendRefs: [{ name: 'web', port: 8080 }] }] }));
  const middleware = {
    apiVersion: 'traefik.io/v1alpha1',
    kind: 'Middleware',
    metadata: {
      name: 'coppice-access',
      namespace: namespaceOf(id),
      labels: { 'app.kubernetes.io/managed-by': 'coppice' },
    },
    spec: { forwardAuth: { address: 'http://evil.example' } },
  };
  await expect(tryAs(middleware)).rejects.toThrow(/only the middleware coppice-access/);
  const refused = /create HTTPRoutes only for hosts below env\.localhost/;
  const elsewhere = { name: 'coppice-api', namespace: namespaceOfOthers, port: 80 };
  const redirect = { type: 'RequestRedirect', requestRedirect: { hostname: 'example.com' } };
  for (const spec of [
    { hostnames: ['coppice.localhost'] },
    { hostnames: [] },
    { parentRefs: [{ name: 'other', namespace: 'traefik' }] },
    { rules: [{ backendRefs: [elsewhere] }] },
    { rules: [{ filters: [redirect] }] },
    { rules: [{ filters: [{ ...toMiddleware, extensionRef: { ...toMiddleware.extensionRef, name: 'other' } }] }] },
    { rules: [{ filters: [toMiddleware, redirect] }] },
  ]) {
    await expect(tryAs(route(spec))).rejects.toThrow(refused);
  }
  await expect(tryAs(route({}, namespaceOfOthers))).rejects.toThrow(/can write only in namespaces of groups/);
}, 60_000);
