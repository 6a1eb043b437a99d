import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { userName } from '../../../api/user-records/user-record.ts';
import { send } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { Reader } from './documented.ts';

/** The release is upgraded, uninstalled and installed again with the commands of the guides. */
let harness: Harness;
let reader: Reader;
let id: string;
let weburl: string;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('release');
  reader = new Reader(['docs/how-to/back-up-and-restore.md', 'docs/how-to/upgrade.md'], harness.connection.kubeconfig);
  repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
  await harness.push('shop', 'next');
  id = await harness.spawn(repository, 'main');
  ({ weburl } = await harness.built(id));
  await pageWith(weburl, 'Hello from the API');
  const expirationTime = new Date(Date.now() + 3600_000).toISOString();
  const answer = z.object({ token: z.string() });
  const { client } = harness;
  // The release's namespace contains Redis, which stores logins, so only an API token survives its deletion.
  ({ token: client.token } = await client.call(answer, 'POST', '/api/user/tokens', { name: 'test', expirationTime }));
}, 120_000);

afterAll(async () => {
  for (const asker of askers) asker.abort();
  await reader.leave();
  await harness.remove();
}, 60_000);

const askers: AbortController[] = [];

/** Repeats a request until it is ended; returns how many there were, and the unexpected responses. */
function asking(ask: () => Promise<{ status: number }>) {
  const failures: string[] = [];
  let count = 0;
  const end = new AbortController();
  askers.push(end);
  const ended = (async () => {
    while (!end.signal.aborted) {
      const started = new Date().toISOString();
      const answer = await ask().then(
        ({ status }) => String(status),
        (error: unknown) => String(error),
      );
      count += 1;
      if (answer !== '200') failures.push(`${started} ${answer}`);
      await sleep(20);
    }
  })();
  return async () => {
    end.abort();
    await ended;
    return { count, failures };
  };
}

const askApi = () => asking(() => harness.client.send('GET', '/api/groups'));
const askPage = () => asking(() => send(weburl, { timeoutMs: 10_000 }));

/** Returns the environment's pods by UID, with the restarts of their containers. */
function pods(): Promise<string> {
  const path = 'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount};{end}';
  return harness.kubectl(['get', 'pods', '--namespace', namespaceOf(id), '--selector', service, '--output', path]);
}
const service = 'coppice.dev/service,!coppice.dev/build';

const podOf = (component: string) =>
  harness.kubectl([
    ...['get', 'pods', '--namespace', 'coppice-system', '--selector', `app.kubernetes.io/name=coppice-${component}`],
    ...['--field-selector', 'status.phase=Running', '--output', 'jsonpath={.items[*].metadata.uid}'],
  ]);

const string = z.string();
const definitionSchema = z.looseObject({
  metadata: z.object({ name: string, labels: z.record(string, string), annotations: z.record(string, string) }),
  spec: z.looseObject({
    versions: z.tuple([
      z.looseObject({
        schema: z.looseObject({
          openAPIV3Schema: z.looseObject({
            properties: z.looseObject({ spec: z.looseObject({ properties: z.record(string, z.unknown()) }) }),
          }),
        }),
      }),
    ]),
  }),
});

async function groupDefinition() {
  const text = await harness.kubectl(['get', 'customresourcedefinitions', 'groups.coppice.dev', '--output', 'json']);
  const definition = definitionSchema.parse(JSON.parse(text));
  return { definition, fields: definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties };
}

/** Removes a field from the definition of Groups, as if an older chart had installed it. */
async function ageDefinition(field: string): Promise<void> {
  const { definition, fields } = await groupDefinition();
  expect(fields).toHaveProperty(field);
  fields[field] = undefined;
  const apply = ['apply', '--server-side', '--field-manager=helm', '--filename', '-'];
  await harness.kubectl(apply, { input: JSON.stringify(definition) });
  expect((await groupDefinition()).fields).not.toHaveProperty(field);
}

test('runs no container of Coppice as root or with a writable image', async () => {
  const deployments = ['operator', 'api', 'tester'].map((component) => `deployments/coppice-${component}`);
  for (const pod of [...deployments, 'statefulsets/coppice-redis']) {
    const user = await harness.kubectl(['exec', '--namespace', 'coppice-system', pod, '--', 'id', '-u']);
    expect([pod, Number(user)]).not.toEqual([pod, 0]);
    const write = ['exec', '--namespace', 'coppice-system', pod, '--', 'touch', '/etc/written'];
    await expect(harness.kubectl(write)).rejects.toThrow('Read-only file system');
  }
}, 60_000);

test('upgrades during a build without a failed request or a restarted pod, and updates the definitions', async () => {
  await reader.paste('backup-users');
  const before = { pods: await pods(), api: await podOf('api'), operator: await podOf('operator') };
  expect(before.pods).not.toBe('');
  // Each sends its own requests: one that waits for a response would hide what the others see.
  const ends = [askApi(), askApi(), askApi(), askPage()];
  const next = await harness.spawn(repository, 'next');
  const values = z
    .looseObject({ api: z.looseObject({}), operator: z.looseObject({}) })
    .parse(parse(readFileSync(join(reader.folder, 'backup/values.yaml'), 'utf8')));
  const logLevel = 'debug';
  const changed = { ...values, api: { ...values.api, logLevel }, operator: { ...values.operator, logLevel } };
  writeFileSync(join(reader.folder, 'values.yaml'), stringify(changed));
  await ageDefinition('maxActiveEnvironments');
  const started = Date.now();
  await reader.paste('upgrade');
  expect((await groupDefinition()).fields).toHaveProperty('maxActiveEnvironments');
  await harness.built(next);
  const asked = await Promise.all(ends.map((end) => end()));
  console.info(`${asked.map(({ count }) => count).join(', ')} requests in ${(Date.now() - started) / 1000} s`);
  expect(asked.flatMap(({ failures }) => failures)).toEqual([]);
  expect(await pods()).toBe(before.pods);
  expect(await podOf('operator')).not.toBe(before.operator);
}, 300_000);

test('keeps everything of users after uninstalling, and continues without builds after installing again', async () => {
  const before = { pods: await pods(), environment: await harness.client.environment(id), kinds: await kinds() };
  const end = askPage();
  await reader.paste('uninstall');
  await waitFor('nobody to answer for the API', 30, async () =>
    (await harness.client.send('GET', '/api/groups')).status === 404 ? true : undefined,
  );
  expect(await kinds()).toEqual(before.kinds);
  await harness.kubectl(['get', 'secret', userName(harness.client.email ?? ''), '--namespace', 'coppice-users']);
  // Redis's volume and the Secrets of the backup are deleted with it.
  await harness.kubectl(['delete', 'namespace', 'coppice-system', '--timeout=90s'], { deadline: 100 });

  await reader.paste('install-stopped');
  await reader.paste('install-started');
  await waitFor('the API to answer', 60, async () =>
    (await harness.client.send('GET', '/api/groups')).status === 200 ? true : undefined,
  );
  const origin = await harness.push('shop', 'main', { 'web/title.txt': 'Installed again' });
  expect(origin).toContain(harness.group);
  const { count, failures } = await end();
  console.info(`the page was asked ${count} times`);
  expect(failures).toEqual([]);
  expect(await pods()).toBe(before.pods);
  expect((await harness.client.environment(id)).build).toEqual(before.environment.build);

  await harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`);
  await pageWith(weburl, 'Installed again', 120);
}, 300_000);

/** Returns the kinds of the group's objects. */
function kinds(): Promise<string> {
  const namespaced = 'repositories.coppice.dev,environments.coppice.dev';
  return harness.kubectl(['get', namespaced, '--namespace', `group-${harness.group}`, '--output', 'name']);
}
