import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { API_GROUP } from '../../../crds/api-group.ts';
import { customResourceDefinitions } from '../../../crds/crd.ts';
import { VERSION_STEPS } from '../../../crds/versions.ts';
import { systemClock } from '../../../kubernetes/clock.ts';
import { migrateStorage } from '../../../operator/storage-migration/migrate.ts';
import { testClient } from '../../api-server/api-server.ts';
import { readConnection } from '../../cluster/connection.ts';
import { kubectlOf } from '../../cluster/kubectl.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { toolPath } from '../../cluster/go/programs.ts';
import { run } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { writeChart } from '../../release/versioned-chart.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';

/** The next releases (ADR 77), as charts with other definitions: this release's operator and API run with each of them. */
const scratch = mkdtempSync(join(tmpdir(), 'storage-version-'));
const connection = readConnection();
const kubectl = kubectlOf(connection);
const values = join(scratch, 'values.yaml');
const current = join(REPOSITORY_ROOT, 'charts/coppice');
const both = writeChart(VERSION_STEPS.both, join(scratch, 'both'));
const beta = writeChart(VERSION_STEPS.beta, join(scratch, 'beta'));
const definitions = customResourceDefinitions().map(({ plural }) => `${plural}.${API_GROUP}`);
let harness: Harness;
let repository: string;
let environment: string;

const helm = (...args: string[]) =>
  run(toolPath('helm'), ['--kubeconfig', connection.kubeconfig, '--namespace', 'coppice-system', ...args], {
    deadline: 250,
  });
const waiting = ['--wait', '--timeout', '240s', '--force-conflicts'];
const upgradeTo = (chart: string) => helm('upgrade', 'coppice', chart, '--values', values, ...waiting);

const storedVersions = async () =>
  (await kubectl(['get', 'crd', ...definitions, '--output', 'jsonpath={.items[*].status.storedVersions}'])).split(' ');
const allIn = (version: string) => definitions.map(() => `["${version}"]`);

/** Returns the pods of Coppice and of the environment, which no step restarts. */
const pods = () =>
  Promise.all(
    ['coppice-system', namespaceOf(environment)].map((namespace) =>
      kubectl([
        ...['get', 'pods', '--namespace', namespace, '--output'],
        'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.uid} {.status.containerStatuses[*].restartCount};{end}',
      ]),
    ),
  );

beforeAll(async () => {
  writeFileSync(values, await helm('get', 'values', 'coppice', '--output', 'yaml'), { mode: 0o600 });
  harness = await startHarness('versions');
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  environment = await harness.spawn(repository, 'main');
  await harness.built(environment);
}, 240_000);

afterAll(async () => {
  // The current definitions are refused while objects may be stored in v1beta1.
  const files = join(both, 'files/crds');
  await kubectl(['apply', '--server-side', '--force-conflicts', '--field-manager', 'helm', '--filename', files]);
  const client = testClient();
  const signal = AbortSignal.timeout(120_000);
  await migrateStorage({ client, definitions, report: () => undefined, clock: systemClock, signal });
  client.close();
  await upgradeTo(current);
  await harness.remove();
  rmSync(scratch, { recursive: true });
}, 400_000);

test('serves v1beta1 beside v1alpha1, then stores it, and restarts nothing', async () => {
  const before = await pods();
  await upgradeTo(both);
  expect(await storedVersions()).toEqual(allIn('v1alpha1'));
  await upgradeTo(beta);
  expect(await storedVersions()).toEqual(allIn('v1beta1'));
  expect(await pods()).toEqual(before);
  const left = ['job,serviceaccount', '--namespace', 'coppice-system', '--output', 'name'];
  expect(await kubectl(['get', ...left])).not.toContain('storage-migration');
  expect(await kubectl(['get', 'clusterroles,clusterrolebindings', '--output', 'name'])).not.toContain(
    'storage-migration',
  );
}, 300_000);

test('works with objects in v1beta1, by both versions', async () => {
  await harness.push('shop', 'next', { 'web/title.txt': 'Stored in v1beta1' });
  const { weburl } = await harness.built(await harness.spawn(repository, 'next'));
  await pageWith(weburl, 'Stored in v1beta1', 60);
  const listed = await kubectl([
    'get',
    `environments.v1beta1.${API_GROUP}`,
    '--namespace',
    `group-${harness.group}`,
    '--output',
    'name',
  ]);
  expect(listed.trim().split('\n')).toHaveLength(2);
}, 240_000);

test('deletes what belongs to an object with a reference to v1alpha1', async () => {
  const other = await harness.addRepository('other', await harness.push('other', 'main'));
  const namespace = ['--namespace', `group-${harness.group}`];
  const secret = 'webhook-other';
  await waitFor('the Secret of the webhook', 60, async () => {
    const found = await kubectl(['get', 'secrets', ...namespace, '--output', 'name']);
    return found.includes(`/${secret}`) ? true : undefined;
  });
  const owner = await kubectl([
    'get',
    'secret',
    secret,
    ...namespace,
    '--output',
    'jsonpath={.metadata.ownerReferences[*].apiVersion}',
  ]);
  expect(owner).toBe(`${API_GROUP}/v1alpha1`);
  await harness.client.call(z.unknown(), 'DELETE', `/api/repository/${other}`);
  await waitFor('the Secret to be deleted', 90, async () => {
    const found = await kubectl(['get', 'secrets', ...namespace, '--output', 'name']);
    return found.includes(`/${secret}`) ? undefined : true;
  });
}, 240_000);

test('rolls back to v1alpha1', async () => {
  const before = await pods();
  await helm('rollback', 'coppice', ...waiting);
  expect(await storedVersions()).toEqual(allIn('v1alpha1'));
  await upgradeTo(current);
  expect(await pods()).toEqual(before);
  expect((await harness.client.environment(environment)).status).toBe('built');
}, 300_000);
