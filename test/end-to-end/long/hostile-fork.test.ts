import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { basicAuthorization, readRegistry, type Registry } from '../../cluster/registry.ts';
import { waitFor } from '../../cluster/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { logOf } from '../fixtures.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { pushPullRequest } from '../push-pull-request.ts';
import { pageSchema, spyingPage, type Loot } from '../spying-page.ts';

const word = (name: string) => `${name}-${randomBytes(9).toString('hex')}`;
/** What people without push access to the repository must not see. */
const secrets = { run: word('run'), build: word('build'), token: word('token'), pull: word('pull') };

let harness: Harness;
let registry: Registry;
let origin: string;
let repository: string;
let main: string;
let fork: string;

beforeAll(async () => {
  harness = await startHarness('hostile');
  const found = readRegistry();
  if (!found) throw new Error('there is no .local/registry.json: start the cluster with `npm run up`');
  registry = found;
  origin = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url: origin, branch: 'main', files: spyingPage(harness.group, registry.address) });
  repository = await harness.addRepository('shop', origin);
  for (const [name, value, visibility] of [
    ['RUN_WORD', secrets.run, 'always'],
    ['TOKEN_WORD', secrets.token, 'always'],
    ['BUILD_WORD', secrets.build, 'buildtime'],
  ]) {
    await harness.client.call(z.unknown(), 'POST', `/api/repository/${repository}/variables`, {
      name,
      value,
      visibility,
    });
  }
  await giveRegistrySecret();
  // The very commit that is built with all of it: what is known of it must not pass on to the fork's.
  await pushPullRequest(origin, 'main', 7);
}, 60_000);

afterAll(() => harness.remove(), 120_000);

/** Credentials for a registry of the group's own, by kubectl. */
async function giveRegistrySecret(): Promise<void> {
  const namespace = `group-${harness.group}`;
  const auths = { 'registry.example.com': { username: 'robot', password: secrets.pull } };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pull', namespace },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  };
  await harness.kubectl(['apply', '--filename', '-'], { input: stringify(secret) });
  await patchRepository({ registrySecrets: ['pull'] });
}

async function patchRepository(spec: object): Promise<void> {
  const name = repository.slice(repository.indexOf('.') + 1);
  const at = ['repositories.coppice.dev', name, '--namespace', `group-${harness.group}`];
  await harness.kubectl(['patch', ...at, '--type', 'merge', '--patch', JSON.stringify({ spec })]);
}

function spawnPullRequest(number: number): Promise<string> {
  return harness.spawn(repository, '', { gitRef: { name: String(number), type: 'pull request' } });
}

/** All that Secrets and ConfigMaps of an environment's namespace hold, as text. */
async function kept(environmentId: string): Promise<string> {
  const args = ['get', 'secrets,configmaps', '--namespace', namespaceOf(environmentId), '--output', 'json'];
  const { items } = JSON.parse(await harness.kubectl(args)) as { items: { kind: string; data?: object }[] };
  return items
    .flatMap(({ kind, data }) => Object.values(data ?? {}).map((text) => decoded(kind, String(text))))
    .join('\n');
}

function decoded(kind: string, text: string): string {
  if (kind !== 'Secret') return text;
  const bytes = Buffer.from(text, 'base64');
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = (isPacked ? gunzipSync(bytes) : bytes).toString();
  // Passwords for registries, and files, are in base64 once more.
  return plain.replace(/"([A-Za-z0-9+/]{8,}=*)"/g, (_, inner: string) => `"${inner}" "${unpacked(inner)}"`);
}

function unpacked(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

function found(text: string): string[] {
  return Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? [name] : []));
}

test('a fork’s pull request gets nothing of what a branch of the same commit gets', async () => {
  [main, fork] = await Promise.all([harness.spawn(repository, 'main'), spawnPullRequest(7)]);
  const [ofMain, ofFork] = await Promise.all([harness.built(main), harness.built(fork)]);

  // So that what the fork does not find is known to be there.
  const mainPage = await pageWith(ofMain.weburl, '"running"');
  expect(found(mainPage)).toEqual(['run', 'build', 'token']);
  const { build } = pageSchema.parse(JSON.parse(mainPage));
  expect([build.secrets, build.cache]).toMatchObject([{ token: secrets.token }, { marker: secrets.token }]);
  expect(found(await kept(main))).toEqual(['run', 'build', 'token', 'pull']);

  const forkPage = await pageWith(ofFork.weburl, '"running"');
  const log = await logOf(harness, fork);
  expect(log).toContain('serviceAccount');
  expect(found(`${forkPage}${log}${await kept(fork)}`)).toEqual([]);
  const loot = pageSchema.parse(JSON.parse(forkPage));
  for (const one of [loot.build, loot.running]) {
    expect(one.serviceAccount).toBe('ENOENT');
    expect([one.push, one.pushUntrusted]).not.toContain(202);
    expect(one.kubernetes).not.toBe(200);
  }
  expect(loot.build.cache).toEqual({});
  await showRegistryIsShut(loot.build, `${forkPage}${log}`);

  expect(conditionOf(ofFork, 'Trusted')).toMatchObject({ status: 'False', reason: 'Unknown' });
  expect(conditionOf(ofMain, 'Trusted')).toBeUndefined();
  // Nor can it start with, or replace, what others start with.
  const reported = await harness.client.waitForEnvironment(
    fork,
    (one) => conditionOf(one, 'Published') !== undefined,
    20,
  );
  for (const type of ['Seeded', 'Published']) {
    expect([type, conditionOf(reported, type)]).toMatchObject([type, { status: 'False', reason: 'NotTrusted' }]);
  }
  expect(await imageOf(main)).toContain('/shop/web@');
  expect(await imageOf(fork)).toContain('/shop/untrusted/web@');
}, 300_000);

/**
 * The registry's administrator can do all (ADR 42): a step reaches the registry and is refused what
 * the same call gets with the credential, and buildkitd, which has it, lets the step see nothing but its name.
 */
async function showRegistryIsShut(loot: Loot, shown: string): Promise<void> {
  const { hostAddress, password } = registry;
  const authorization = basicAuthorization(registry);
  const path = `/v2/${harness.group}/shop/untrusted/web/blobs/uploads/`;
  const call = await fetch(`http://${hostAddress}${path}`, { method: 'POST', headers: { authorization } });
  expect([call.status, loot.push, loot.pushUntrusted]).toEqual([202, 401, 401]);

  // What lies in the fork's namespace is a credential that pulls from its repository, and no password for the registry.
  const text = await kept(fork);
  expect(text).toMatch(/coppice:v1\.\d+\.[\w-]+\.\d+\.pull\./);
  expect(text).not.toContain(password);
  for (const word of [password, authorization.replace('Basic ', '')]) expect(shown).not.toContain(word);

  const builders = loot.processes.filter(({ command }) => command.includes('buildkitd'));
  expect(builders.length).toBeGreaterThan(0);
  for (const { environment, files, descriptors, memory } of builders) {
    // How many it has open may be seen; one that was closed meanwhile is ENOENT.
    const open = descriptors.split(',').filter((outcome) => outcome !== 'ENOENT');
    const seen = [environment, files, memory, ...open];
    expect(seen.filter((outcome) => outcome !== 'EACCES' && outcome !== 'EPERM')).toEqual([]);
  }
  // Of a process that is its own it sees all of this.
  expect(
    loot.processes.some(
      ({ memory, files, descriptors }) => `${memory} ${descriptors}`.startsWith('seen seen') && files.includes('proc'),
    ),
  ).toBe(true);
}

test('its build may not start with an image that a branch has built', async () => {
  const dockerfile = `FROM ${await imageOf(main)}\nRUN cat build.json\n`;
  await pushRepository({
    url: origin,
    branch: 'thief',
    files: { ...spyingPage(harness.group, registry.address), Dockerfile: dockerfile },
  });
  await pushPullRequest(origin, 'thief', 8);
  const thief = await spawnPullRequest(8);
  const stalled = await harness.stalled(thief);
  expect(stalled.build).toMatchObject({ result: 'failed' });
  const log = await logOf(harness, thief);
  expect(log).toMatch(/not allowed by policy|denied by policy/);
  expect(found(`${log}${JSON.stringify(stalled)}${await kept(thief)}`)).toEqual([]);
}, 300_000);

test('where forks are trusted it gets all of it with the next build, and loses it when they are no more', async () => {
  await patchRepository({ trustForks: true });
  const trusted = await harness.client.waitForEnvironment(
    fork,
    (one) => conditionOf(one, 'Trusted')?.status === 'True',
    20,
  );
  expect(conditionOf(trusted, 'Trusted')).toMatchObject({ reason: 'TrustForks' });
  expect(found(await pageWith(trusted.weburl, '"running"'))).toEqual([]);
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${fork}/build`, {});
  await pageWith(trusted.weburl, secrets.run, 60);
  await harness.built(fork);

  await patchRepository({ trustForks: false });
  await waitFor('the page without what it was trusted with', 60, async () =>
    found(await pageWith(trusted.weburl, '"running"')).length === 0 ? true : undefined,
  );
  const withdrawn = await harness.built(fork);
  expect(conditionOf(withdrawn, 'Trusted')).toMatchObject({ status: 'False' });
  expect(await imageOf(fork)).toContain('/untrusted/');
}, 300_000);

async function imageOf(environmentId: string): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const at = ['deployment', 'web', '--namespace', namespaceOf(environmentId)];
  return (await harness.kubectl(['get', ...at, '--output', path])).trim();
}
