// Several repositories in one environment: a page at an emulated Git host, and a private API on the Git server.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { logOf } from './fixtures.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';
import { makeHosted, type HostedRepository } from './test-hosts.ts';

let harness: Harness;
let shop: HostedRepository;
let shopId: string;
let backendId: string;
let feature: string;

const secret = `word-${randomUUID()}`;
const credentials = { username: 'reader', password: `password-${randomUUID()}` };
const included = [{ name: 'backend', fallback: 'main', alias: 'api' }];

function page(text: string, repositories: object[] = included, dependsOn = ['api']): Record<string, string> {
  const web = { build: '.', ports: ['8080:8080'], depends_on: dependsOn };
  return {
    'compose.yaml': stringify({ services: { web }, 'x-coppice': { repositories } }),
    Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n',
    'index.html': `${text}\n`,
  };
}

function api(text: string, service = 'api'): Record<string, string> {
  const run = 'echo "word: $WORD" >>/www/index.html; exec httpd -f -p 8080 -h /www';
  const services = {
    [service]: { build: '.', ports: ['8080:8080'], environment: { WORD: '${WORD:-none}' }, volumes: ['data:/data'] },
  };
  return {
    'compose.yaml': stringify({ services, volumes: { data: {} } }),
    Dockerfile: `FROM busybox:1\nCOPY index.html /www/\nCMD ${run}\n`,
    'index.html': `${text}\n`,
  };
}

const backendUrl = () => `${harness.connection.gitUrl}/${harness.group}/backend.git`;
const pushBackend = (branch: string, files: Record<string, string>) =>
  pushRepository({ url: backendUrl(), branch, files, credentials });
const spawnPull = (number: number) =>
  harness.spawn(shopId, '', { gitRef: { name: `${number}`, type: 'pull request' } });

beforeAll(async () => {
  harness = await startHarness('repositories');
  const { group, connection, client } = harness;
  shop = await makeHosted('ownerhost', group);
  const path = `${connection.gitUrl}/admin/repositories/${group}/backend`;
  const made = await send(path, { method: 'PUT', body: JSON.stringify(credentials) });
  if (made.status !== 200) throw new Error(`${path}: ${made.status} ${made.text}`);
  await Promise.all([shop.pushFiles('refs/heads/feature', page('page 1')), pushBackend('main', api('api 1'))]);
  // The target of the pull requests.
  await shop.pushFiles('refs/heads/main', page('main'));
  shopId = await harness.register({ name: 'shop', type: 'ownerhost', params: shop.params });
  backendId = await harness.register({
    name: 'backend',
    type: 'generic',
    params: { origin: backendUrl(), ...credentials },
  });
  const variable = { name: 'WORD', value: secret, visibility: 'always' };
  await client.call(z.unknown(), 'POST', `/api/repository/${backendId}/variables`, variable);
}, 120_000);

afterAll(async () => {
  await harness.remove();
  await shop.remove();
}, 60_000);

const environmentSchema = z.looseObject({
  commit: z.string().optional(),
  repositories: z.array(
    z.looseObject({ id: z.string(), branch: z.string().optional(), commit: z.string().optional() }),
  ),
});
const includedIn = async (id: string) =>
  (await harness.client.call(environmentSchema, 'GET', `/api/environment/${id}?build=false`)).repositories;

const objectSchema = z.object({ metadata: z.object({ generation: z.number(), uid: z.string() }) });

/** Returns what identifies the state of a service's Deployment, without its status. */
async function deploymentOf(id: string, service: string) {
  const args = ['get', 'deployment', service, '--namespace', namespaceOf(id), '--output', 'json'];
  return objectSchema.parse(JSON.parse(await harness.kubectl(args))).metadata;
}

/** Waits for the page of the included repository, at the host of its alias. */
const apiOf = ({ aliases }: EnvironmentAnswer, text: string) => pageWith(aliases['api'] ?? '', text, 90);

test('runs the services of both, each with its own variables, at the branch of the name or the fallback', async () => {
  feature = await harness.spawn(shopId, 'feature');
  const built = await harness.built(feature);
  await pageWith(built.weburl, 'page 1');
  expect(await apiOf(built, 'api 1')).toContain(`word: ${secret}`);
  expect(await includedIn(feature)).toMatchObject([
    { id: backendId, branch: 'main', branches: ['feature', 'main'], services: ['api'] },
  ]);
  const log = await logOf(harness, feature);
  expect(log).toContain('cloning backend, refs/heads/main at');
  for (const word of [secret, credentials.password]) expect(log).not.toContain(word);
  // What the clones needed is gone with the build.
  const secrets = await harness.kubectl(['get', 'secrets', '--namespace', namespaceOf(feature), '--output', 'name']);
  expect(secrets).not.toContain('build-source');
  const claims = await harness.kubectl(['get', 'pvc', '--namespace', namespaceOf(feature), '--output', 'name']);
  expect(claims).toContain('volume-backend-data');
}, 180_000);

test('a push to the included repository builds and restarts only what it changed', async () => {
  const before = [await deploymentOf(feature, 'api'), await deploymentOf(feature, 'web')];
  const commit = await pushBackend('main', api('api 2'));
  await harness.sync(backendId);
  await apiOf(await harness.client.environment(feature), 'api 2');
  await harness.client.waitForEnvironment(feature, ({ build }) => build?.result === 'succeeded', 60);
  const after = [await deploymentOf(feature, 'api'), await deploymentOf(feature, 'web')];
  expect(after[0]?.generation).toBeGreaterThan(before[0]?.generation ?? 0);
  expect(after[1]).toEqual(before[1]);
  const log = await logOf(harness, feature);
  expect(log).toContain(`cloning backend, refs/heads/main at ${commit}`);
  expect(log).not.toContain('cloning refs/heads/feature');
  expect(await includedIn(feature)).toMatchObject([{ branch: 'main', commit }]);
}, 180_000);

test('a new branch of the same name is taken, and the pull request shows which commit each came from', async () => {
  const commit = await pushBackend('feature', api('api 3'));
  await harness.sync(backendId);
  await apiOf(await harness.client.environment(feature), 'api 3');
  await harness.client.waitForEnvironment(feature, ({ build }) => build?.result === 'succeeded', 60);
  expect(await includedIn(feature)).toMatchObject([{ branch: 'feature', commit }]);
  const pull = await spawnPull(await shop.openPull('feature'));
  await apiOf(await harness.built(pull), 'api 3');
  expect(await includedIn(pull)).toMatchObject([{ branch: 'feature', commit }]);
  const expected = `It includes backend at \`${commit.slice(0, 12)}\` of \` feature \`.`;
  await waitFor('the comment', 60, async () => JSON.stringify(await shop.record()).includes(expected) || undefined);
}, 180_000);

test('reports a missing branch, and builds when it is pushed', async () => {
  await shop.pushFiles('refs/heads/missing', page('page 2', [{ name: 'backend', alias: 'api' }]));
  const id = await harness.spawn(shopId, 'missing');
  const stalled = await harness.stalled(id);
  expect(conditionOf(stalled, 'Stalled')).toMatchObject({
    reason: 'IncludedBranchNotFound',
    message: expect.stringContaining('backend has no branch missing. Push it there, or name a fallback'),
  });
  expect(await includedIn(id)).toEqual([{ id: backendId, branches: ['missing'] }]);
  await pushBackend('missing', api('api 4'));
  await harness.sync(backendId);
  await apiOf(await harness.built(id), 'api 4');
}, 180_000);

test.each([
  ['a service of one name', [{ name: 'backend' }], 'the host name web is taken twice'],
  ['a repository of no or another group', [{ name: 'elsewhere' }], 'the group has no repository elsewhere'],
  ['an id of another group', [{ name: 'other.backend' }], 'is not the name of a repository of this group'],
  ['the repository itself', [{ name: 'shop' }], 'shop is the repository of the file itself'],
])(
  'refuses %s',
  async (_what, repositories, message) => {
    const branch = `refused-${randomUUID().slice(0, 8)}`;
    await Promise.all([
      shop.pushFiles(`refs/heads/${branch}`, page('refused', repositories, [])),
      pushBackend(branch, api('refused', 'web')),
    ]);
    const stalled = await harness.stalled(await harness.spawn(shopId, branch));
    expect(conditionOf(stalled, 'Stalled')?.message).toContain(message);
  },
  60_000,
);

test("a fork's pull request includes nothing that does not permit it, and then gets no variables", async () => {
  const id = await spawnPull(await shop.openForkPullWith(page('fork')));
  const stalled = await harness.stalled(id);
  expect(conditionOf(stalled, 'Stalled')?.message).toContain(
    'the group has no repository backend that environments of forks can include',
  );
  expect(await includedIn(id)).toEqual([{ id: backendId, branches: [] }]);
  const settings = { forks: { canInclude: true } };
  await harness.client.call(z.unknown(), 'POST', `/api/repository/${backendId}/settings`, settings);
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`, {});
  const built = await harness.built(id);
  await pageWith(built.weburl, 'fork');
  // At the fallback, although the fork's branch could have any name.
  expect(await apiOf(built, 'api 2')).toContain('word: none');
  const kept = await harness.kubectl(['get', 'secrets,configmaps', '--namespace', namespaceOf(id), '--output', 'json']);
  for (const word of [secret, credentials.password]) {
    expect(kept).not.toContain(word);
    expect(kept).not.toContain(Buffer.from(word).toString('base64').slice(0, -4));
  }
}, 240_000);
