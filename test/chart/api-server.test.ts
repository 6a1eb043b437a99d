// What is rendered, as a real API server takes it: kubectl validates each field, and nothing is written.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { repositoryRoot } from '../cluster/paths.ts';
import { run } from '../cluster/run.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { deleteNamespace, randomName, testClient } from '../api-server/api-server.ts';
import { chart, objectsIn, program, render, type Rendered } from './render.ts';
import { everything, existing, least } from './sample-values.ts';

/** Kinds that the test's API server does not know, as a cluster with cert-manager, Prometheus, Argo CD or Flux would. */
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

/** In a namespace that is there and holds nothing else, and asks for Pod Security's strictest level. */
function moved(object: Rendered): Rendered {
  if (object.metadata.namespace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** Gives what the API server warns of; rejects with what it refuses. */
async function dryRun(objects: readonly Rendered[]): Promise<string[]> {
  const reported: string[] = [];
  const how = ['--server-side', '--dry-run=server', '--force-conflicts', '--field-manager=chart-test'];
  await run(program('kubectl'), ['apply', ...how, '--validate=strict', '--filename', '-'], {
    input: objects.map((object) => stringify(moved(object))).join('---\n'),
    detail: (line) => reported.push(line),
  });
  return reported.filter((line) => line.startsWith('Warning'));
}

const nameOf = ({ apiVersion, kind }: Rendered) => `${apiVersion} ${kind}`;

test.each([
  ['the least', least],
  ['everything', everything],
  ['what is there already', existing],
])('with %s the API server takes all objects, and warns of none', async (_what, values) => {
  const objects = objectsIn(await render(values));
  const isKnown = (object: Rendered) => !unknown.includes(nameOf(object));
  expect(await dryRun(objects.filter(isKnown))).toEqual([]);
});

test('what it does not know is rendered, each kind of it', async () => {
  const texts = await Promise.all([everything, existing].map((values) => render(values)));
  const names = new Set(texts.flatMap(objectsIn).map(nameOf));
  expect(unknown.filter((name) => !names.has(name))).toEqual([]);
});

const examples = join(repositoryRoot, 'examples');

test('it takes the examples, and what is of Argo CD, Flux and Kustomize it does not know', async () => {
  const files = readdirSync(examples, { recursive: true, encoding: 'utf8' });
  const objects = files
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

test('kustomize finds all that acme names', async () => {
  const built = objectsIn(await run(program('kubectl'), ['kustomize', join(examples, 'acme')]));
  expect(built.map(({ kind }) => kind).sort()).toEqual(['Environment', 'Group', 'Namespace', 'Repository']);
});

test('a field that there is not is refused', async () => {
  const [object] = objectsIn(await render(least)).filter(({ kind }) => kind === 'StatefulSet');
  await expect(dryRun([{ ...object!, spec: { ...(object!['spec'] as object), replica: 1 } }])).rejects.toThrow(
    /replica/,
  );
});

test('kubectl diff finds nothing once the release is there', async () => {
  const objects = objectsIn(await render(existing, '--set', 'crds.enabled=false')).filter(
    (object) => object.metadata.namespace !== undefined && !unknown.includes(nameOf(object)) && object.kind !== 'Pod',
  );
  expect(objects.length).toBeGreaterThan(10);
  const input = objects.map((object) => stringify(moved(object))).join('---\n');
  await run(program('kubectl'), ['apply', '--server-side', '--field-manager=chart-test', '--filename', '-'], { input });
  // kubectl ends with 1 where something differs, and run() rejects with it.
  await run(program('kubectl'), ['diff', '--filename', '-'], { input });
});

test('a second release is refused in words, and the first one is not', async () => {
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
    (await run(program('kubectl'), [
      'get',
      'clusterrole',
      'coppice-operator',
      '--ignore-not-found',
      '--output=name',
    ])) !== '';
  if (!isThere) await run(program('kubectl'), ['create', '--filename', '-'], { input });
  try {
    const online = ['--dry-run=server', '--set', 'crds.enabled=false'];
    await expect(render(least, ...online)).resolves.toContain('kind: Deployment');
    const second = ['template', 'second', chart, '--namespace', 'elsewhere', '--values', '-', ...online];
    await expect(run(program('helm'), second, { input: stringify(least) })).rejects.toThrow(
      /this cluster has Coppice already, as release coppice in the namespace coppice-system/,
    );
  } finally {
    if (!isThere) await run(program('kubectl'), ['delete', '--filename', '-'], { input });
  }
});
