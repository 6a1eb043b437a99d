import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { userName } from '../../../api/user-records/user-record.ts';
import { RestClient } from '../../client/rest-client.ts';
import { REPOSITORY_ROOT } from '../../support/paths.ts';
import { run } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { SAMPLE_GROUP } from '../../sample/sample-user.ts';
import { namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { Reader } from './documented.ts';

/**
 * A group with its user, and then all of Coppice, are backed up, deleted and restored with the commands of the
 * guides.
 */
let harness: Harness;
let reader: Reader;
let repository: string;
let running: string;
let weburl: string;
let before: Awaited<ReturnType<typeof asItIs>>;

beforeAll(async () => {
  harness = await startHarness('restore');
  reader = new Reader(['docs/how-to/back-up-and-restore.md', 'docs/how-to/upgrade.md'], harness.connection.kubeconfig);
}, 60_000);

afterAll(async () => {
  await reader.leave();
  await harness.remove();
}, 60_000);

const settingsSchema = z.object({
  variables: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  sshPublicKey: z.string().min(1),
  webhook: z.object({ url: z.string(), secret: z.string() }),
});
const ownersSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), ownerReferences: z.array(z.object({ uid: z.string() })).length(1) }),
    }),
  ),
});

const settings = () =>
  waitFor('the settings of the repository', 30, () =>
    harness.client.call(settingsSchema, 'GET', `/api/repository/${repository}/settings`),
  );

const asItIs = async () => ({ settings: await settings(), owners: await owners(), states: await states() });

/** Returns each Secret of the group by name, with the UID of its only owner. */
async function owners(): Promise<Map<string, string>> {
  const text = await harness.kubectl(['get', 'secrets', '--namespace', `group-${harness.group}`, '--output', 'json']);
  const { items } = ownersSchema.parse(JSON.parse(text));
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.ownerReferences[0]?.uid ?? '']));
}

async function uidOf(kind: string, name: string): Promise<string> {
  const namespace = kind === 'groups.coppice.dev' ? [] : ['--namespace', `group-${harness.group}`];
  return harness.kubectl(['get', kind, name, ...namespace, '--output', 'jsonpath={.metadata.uid}']);
}

/** Returns the states of the group's environments, in the order of their names. */
function states(): Promise<string> {
  const path = 'jsonpath={.items[*].status.state}';
  return harness.kubectl([
    ...['get', 'environments.coppice.dev', '--namespace', `group-${harness.group}`, '--sort-by=.metadata.name'],
    ...['--output', path],
  ]);
}

const greeting = stringify({
  services: {
    web: { build: '.', ports: ['8080:8080'], environment: { GREETING: '${GREETING}' } },
  },
});
const page = {
  'compose.yaml': greeting,
  Dockerfile: 'FROM node:24-slim\nCOPY server.mjs ./\nCMD ["node", "server.mjs"]\n',
  'server.mjs': [
    "import { createServer } from 'node:http';",
    'createServer((_request, response) => response.end(`says ${process.env.GREETING}`)).listen(8080);',
    "process.on('SIGTERM', () => process.exit(0));",
    '',
  ].join('\n'),
};

async function isAsBefore(): Promise<void> {
  await waitFor('the Ingress controller to find the API', 30, async () =>
    (await harness.client.send('GET', '/api/groups')).status === 200 ? true : undefined,
  );
  await harness.built(running);
  await pageWith(weburl, 'says hi');
  const after = await asItIs();
  expect(after.states).toEqual(before.states);
  expect(after.settings).toEqual(before.settings);
  expect([...after.owners.keys()].sort()).toEqual([...before.owners.keys()].sort());
  expect(new Set(after.owners.values())).toEqual(new Set([await uidOf('repositories.coppice.dev', 'hello')]));
  expect([...after.owners.values()]).not.toContain([...before.owners.values()][0]);
}

test('restores a group and its user from a backup as the page describes', async () => {
  const { client, group } = harness;
  const origin = await harness.push('hello', 'main', page);
  repository = await harness.addRepository('hello', origin);
  await client.call(z.unknown(), 'POST', `/api/repository/${repository}/variables`, { name: 'GREETING', value: 'hi' });
  const tokenAnswer = z.object({ token: z.string() });
  const expirationTime = new Date(Date.now() + 3600_000).toISOString();
  const { token } = await client.call(tokenAnswer, 'POST', '/api/user/tokens', { name: 'ci', expirationTime });
  running = await harness.spawn(repository, 'main');
  await harness.push('hello', 'other', page);
  const emptied = await harness.spawn(repository, 'other');
  ({ weburl } = await harness.built(running));
  await pageWith(weburl, 'says hi');
  await harness.built(emptied);
  await client.call(z.unknown(), 'DELETE', `/api/environment/${emptied}`);
  await waitFor('its contents to go', 60, async () => ((await states()).includes('built empty') ? true : undefined));
  before = await asItIs();
  expect([...before.owners.keys()].some((secret) => secret.startsWith('variables-'))).toBe(true);

  await reader.paste('backup', { groups: group });
  await reader.paste('backup-users');
  await harness.kubectl(['delete', 'groups.coppice.dev', group, '--timeout=120s'], { deadline: 130 });
  await harness.kubectl(['delete', 'secret', userName(client.email ?? ''), '--namespace', 'coppice-users']);
  await waitFor('the token to be refused', 10, async () =>
    (await client.send('GET', '/api/groups', undefined, { 'x-service-token': token })).status === 401
      ? true
      : undefined,
  );

  await reader.paste('stop');
  try {
    await reader.paste('restore');
    // The accounts of others still exist.
    await expect(reader.paste('restore-users')).rejects.toThrow('AlreadyExists');
  } finally {
    await reader.paste('start');
  }

  client.token = token;
  await isAsBefore();
}, 400_000);

test('restores all of Coppice from a backup after it was removed from the cluster', async () => {
  const { client, connection } = harness;
  const groups = async () => names(await harness.kubectl(['get', 'groups.coppice.dev', '--output', 'name']));
  const own = await client.call(z.array(z.looseObject({ id: z.string() })), 'GET', '/api/groups');
  const expected = [SAMPLE_GROUP, ...own.map(({ id }) => id)].sort();
  // Groups of others would lose their volumes, and those that are being deleted would be restored.
  await waitFor("no group but the sample's and this test's", 120, async () => {
    const others = (await groups()).filter((name) => !expected.includes(name));
    if (others.length > 0) throw new Error(`delete ${others.join(', ')}`);
    return true;
  });
  await reader.paste('backup');
  await reader.paste('backup-users');
  try {
    await reader.paste('remove');
    await waitFor('all of Coppice to be gone', 60, async () => {
      const left = await leftOfCoppice();
      if (left.length > 0) throw new Error(`there is still ${left.join(', ')}`);
      return true;
    });
    await reader.paste('install-stopped');
    await reader.paste('restore');
    await reader.paste('restore-users');
    await reader.paste('install-started');
  } catch (error) {
    // Installs Coppice again, because the suites that run after this one need it.
    await run('node', ['test/cluster/up.ts'], { cwd: REPOSITORY_ROOT, deadline: 300 });
    throw error;
  }
  await isAsBefore();
  expect(await groups()).toEqual(expected);
  const sample = new RestClient(connection.apiUrl);
  await sample.login(connection.email, connection.password);
  const environments = z.looseObject({ environments: z.array(z.looseObject({ id: z.string() })).min(1) });
  const shop = await sample.call(environments, 'GET', `/api/repository/${SAMPLE_GROUP}.shop`);
  for (const { id } of shop.environments) {
    const { weburl: address } = await sample.waitForEnvironment(id, ({ status }) => status === 'built', 300);
    await pageWith(address, 'Hello from the API');
  }
}, 600_000);

test('deletes what was restored with its group, because no kubectl has applied it', async () => {
  const { group } = harness;
  await harness.kubectl(['delete', 'groups.coppice.dev', group, '--timeout=120s'], { deadline: 130 });
  const left = await harness.kubectl([
    'get',
    'namespaces',
    `group-${group}`,
    namespaceOf(running),
    '--ignore-not-found',
  ]);
  expect(left).toBe('');
}, 140_000);

/** Returns the names in an output of `kubectl get --output name`. */
const names = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(line.indexOf('/') + 1))
    .sort();

/** Returns everything in the cluster with a name of Coppice. */
async function leftOfCoppice(): Promise<string[]> {
  const kinds = [
    'namespaces',
    'customresourcedefinitions',
    'clusterroles',
    'clusterrolebindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ];
  const found = names(await harness.kubectl(['get', kinds.join(','), '--output', 'name']));
  return found.filter((name) => /coppice|^(env|group|reusable)-/.test(name));
}
