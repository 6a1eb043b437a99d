// A real API server checks what is rendered: kubectl validates each field, and nothing is written.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { run } from '../support/run.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { deleteNamespace, randomName, testClient } from '../api-server/api-server.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { CHART, objectsIn, render, type Rendered } from './render.ts';
import { ALL_VALUES, EXISTING_VALUES, GATEWAY_VALUES, MIN_VALUES } from './sample-values.ts';

/** Kinds that the test's API server does not know; a cluster with cert-manager, Prometheus, Argo CD or Flux would. */
const unknown = [
  'cert-manager.io/v1 Certificate',
  'monitoring.coreos.com/v1 PodMonitor',
  'monitoring.coreos.com/v1 PrometheusRule',
  'monitoring.coreos.com/v1 ServiceMonitor',
];

const client = testClient();
const namespace = randomName('chart-test');

beforeAll(async () => {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
});
afterAll(async () => {
  await deleteNamespace(client, namespace);
  client.close();
});

/** Moves an object to an empty namespace that enforces the strictest level of Pod Security. */
function moved(object: Rendered): Rendered {
  if (object.metadata.namespace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** Returns the warnings of the API server; rejects with its refusal. */
async function dryRun(objects: readonly Rendered[]): Promise<string[]> {
  const reported: string[] = [];
  const how = ['--server-side', '--dry-run=server', '--force-conflicts', '--field-manager=chart-test'];
  await run(toolPath('kubectl'), ['apply', ...how, '--validate=strict', '--filename', '-'], {
    input: objects.map((object) => stringify(moved(object))).join('---\n'),
    detail: (line) => reported.push(line),
  });
  return reported.filter((line) => line.startsWith('Warning'));
}

async function apply(objects: readonly Rendered[]): Promise<void> {
  const input = objects.map((object) => stringify(moved(object))).join('---\n');
  await run(toolPath('kubectl'), ['apply', '--server-side', '--field-manager=chart-test', '--filename', '-'], {
    input,
  });
}

const nameOf = ({ apiVersion, kind }: Rendered) => `${apiVersion} ${kind}`;

test.each([
  ['the least', MIN_VALUES],
  ['everything', ALL_VALUES],
  ['what is there already', EXISTING_VALUES],
])('renders with %s objects that the API server accepts without warnings', async (_what, values) => {
  const objects = objectsIn(await render(values));
  const isKnown = (object: Rendered) => !unknown.includes(nameOf(object));
  // A pod is admitted only where its ServiceAccount exists, and a dry run creates none.
  await apply(objects.filter(({ kind }) => kind === 'ServiceAccount'));
  expect(await dryRun(objects.filter(isKnown))).toEqual([]);
});

test.each<[what: string, values: object, flags: string[]]>([
  ['Traefik as Gateway', GATEWAY_VALUES, ['--api-versions', 'traefik.io/v1alpha1/Middleware']],
  ['ingress-nginx', { ...MIN_VALUES, environments: { access: { enforcedBy: 'ingress-nginx' } } }, []],
])('renders admission policies for access by %s whose expressions compile', async (_what, values, flags) => {
  const objects = objectsIn(await render(values, ...flags));
  const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  expect(policies.length).toBeGreaterThan(3);
  expect(await dryRun(policies)).toEqual([]);
});

test('still renders each kind that the test excludes because the API server does not know it', async () => {
  const texts = await Promise.all([ALL_VALUES, EXISTING_VALUES].map((values) => render(values)));
  const names = new Set(texts.flatMap(objectsIn).map(nameOf));
  expect(unknown.filter((name) => !names.has(name))).toEqual([]);
});

const examples = join(REPOSITORY_ROOT, 'examples');

test('has examples that the API server accepts, except kinds of Argo CD, Flux and Kustomize', async () => {
  const files = readdirSync(examples, { recursive: true, encoding: 'utf8' });
  const objects = files
    // The steps of CI systems are not Kubernetes objects.
    .filter((name) => !name.startsWith('ci/'))
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('health.yaml') && !name.endsWith('kustomization.yaml'))
    .flatMap((name) => objectsIn(readFileSync(join(examples, name), 'utf8')));
  const isForeign = ({ apiVersion }: Rendered) => /^(argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io)\//.test(apiVersion);
  expect(objects.filter(isForeign).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['Application', 'GitRepository', 'HelmRelease', 'Kustomization']),
  );
  const own = objects.filter((object) => !isForeign(object));
  expect(own.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Group', 'Repository', 'Environment']));
  expect(await dryRun(own)).toEqual([]);
});

test('lets kustomize find every file of acme', async () => {
  const built = objectsIn(await run(toolPath('kubectl'), ['kustomize', join(examples, 'acme')]));
  expect(built.map(({ kind }) => kind).sort()).toEqual(['Environment', 'Group', 'Namespace', 'Repository']);
});

test('is refused with an unknown field', async () => {
  const [object] = objectsIn(await render(MIN_VALUES)).filter(({ kind }) => kind === 'StatefulSet');
  await expect(dryRun([{ ...object!, spec: { ...(object!['spec'] as object), replica: 1 } }])).rejects.toThrow(
    /replica/,
  );
});

test('leaves no difference for kubectl diff after the installation', async () => {
  const objects = objectsIn(await render(EXISTING_VALUES, '--set', 'crds.enabled=false')).filter(
    (object) => object.metadata.namespace !== undefined && !unknown.includes(nameOf(object)) && object.kind !== 'Pod',
  );
  expect(objects.length).toBeGreaterThan(10);
  await apply(objects);
  const input = objects.map((object) => stringify(moved(object))).join('---\n');
  // kubectl exits with 1 if there is a difference, and run() then rejects.
  await run(toolPath('kubectl'), ['diff', '--filename', '-'], { input });
});

test('refuses a second release with a message, but not the first', async () => {
  const annotations = {
    'meta.helm.sh/release-name': 'coppice',
    'meta.helm.sh/release-namespace': 'coppice-system',
  };
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'coppice-operator', labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations },
  };
  const input = stringify(role);
  const isThere =
    (await run(toolPath('kubectl'), [
      'get',
      'clusterrole',
      'coppice-operator',
      '--ignore-not-found',
      '--output=name',
    ])) !== '';
  if (!isThere) await run(toolPath('kubectl'), ['create', '--filename', '-'], { input });
  try {
    const online = ['--dry-run=server', '--set', 'crds.enabled=false'];
    await expect(render(MIN_VALUES, ...online)).resolves.toContain('kind: Deployment');
    const second = ['template', 'second', CHART, '--namespace', 'elsewhere', '--values', '-', ...online];
    await expect(run(toolPath('helm'), second, { input: stringify(MIN_VALUES) })).rejects.toThrow(
      /this cluster has Coppice already, as release coppice in the namespace coppice-system/,
    );
  } finally {
    if (!isThere) await run(toolPath('kubectl'), ['delete', '--filename', '-'], { input });
  }
});
