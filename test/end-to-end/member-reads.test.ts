import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { waitFor } from '../support/wait-for.ts';
import { namespaceOf, pageWith, randomName, startHarness, type Harness } from './harness.ts';

// What a member can read with kubectl of the group's environments: services and their logs, but no value of a
// secret variable, wherever a service file uses one.

let harness: Harness;
let repository: string;
let id: string;
const ann = `${randomName('ann')}@example.com`;
const bob = `${randomName('bob')}@example.com`;

/** Short words that no heuristic treats as secrets. Nothing prints the build argument. */
const secrets = { PASSWORD: "zebra 'seven'", PIN: '482913', BUILD_TOKEN: 'giraffe' };
const changed = 'lion eight';
const kinds =
  'pods,services,endpointslices,events,persistentvolumeclaims,deployments,replicasets,statefulsets,jobs,ingresses';

const files = {
  'compose.yaml': `
services:
  web:
    build: { context: ., args: { TOKEN: "\${BUILD_TOKEN}" }, secrets: [pin] }
    ports: ['8080:8080']
    environment:
      PASSWORD:
      DATABASE: "pg://user:\${PASSWORD}@db"
      MODE: test
    command:
      - /bin/sh
      - -c
      - echo "started in $$MODE"; echo "argument $$1; environment $$PASSWORD; build $$(cat /built)" > /www/index.html; exec httpd -f -p 8080 -h /www
      - sh
      - \${PASSWORD}
    healthcheck: { test: ['CMD', 'grep', '-F', "argument \${PASSWORD};", /www/index.html], interval: 1s }
    labels: { auth: "\${PASSWORD}" }
    secrets: [pin]
    volumes: ['data:/data']
    x-coppice: { jobs: [{ name: migrate, command: ['/bin/sh', '-c', 'echo migrated; test -n "$$1"', sh, "\${PASSWORD}"] }] }
volumes: { data: {} }
secrets: { pin: { environment: PIN } }
`,
  Dockerfile: 'FROM busybox:1\nARG TOKEN\nRUN mkdir /www && echo -n "$TOKEN" | md5sum > /built\n',
};

beforeAll(async () => {
  harness = await startHarness('reads');
  await harness.kubectl(['wait', `groups.coppice.dev/${harness.group}`, '--for=condition=Ready', '--timeout=90s'], {
    deadline: 100,
  });
  const other = randomName('reads-other');
  await harness.addGroup(other);
  await setMembers(harness.group, ann);
  await setMembers(other, bob);
  repository = await harness.addRepository('shop', await harness.push('shop', 'main', files));
  for (const [name, value] of Object.entries(secrets)) await setVariable('POST', name, value);
}, 120_000);

afterAll(() => harness.remove(), 60_000);

/** Sets members beside the test's own user, who continues to use the REST API. */
function setMembers(group: string, ...members: string[]): Promise<string> {
  const patch = JSON.stringify({ spec: { members: [harness.client.email, ...members] } });
  return harness.kubectl(['patch', 'groups.coppice.dev', group, '--type=merge', `--patch=${patch}`]);
}

function setVariable(method: 'POST' | 'PATCH', name: string, value: string): Promise<unknown> {
  const visibility = name === 'BUILD_TOKEN' ? 'buildtime' : 'always';
  const path = `/api/group/${harness.group}/variables`;
  return harness.client.call(z.unknown(), method, path, { name, value, visibility, secret: true });
}

const as = (user: string, ...args: string[]) =>
  harness.kubectl(['--as', user, '--namespace', namespaceOf(id), ...args]);

const texts = () => Object.values(secrets).flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
/** Returns the texts, their base64 and the start of their hash, with which a guess could be verified. */
const traces = () =>
  [...texts(), changed].flatMap((text) => [
    text,
    Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1),
    createHash('sha256').update(text).digest('hex').slice(0, 10),
  ]);

function expectNoSecret(shown: string): void {
  expect(traces().filter((trace) => shown.includes(trace))).toEqual([]);
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const podName = () =>
  as(ann, 'get', 'pods', '--selector=coppice.dev/service=web', '--output=jsonpath={.items[*].metadata.name}');

test('lets members read builds and services, and no secret values', async () => {
  id = await harness.spawn(repository, 'main');
  const seen = { jobs: '', all: '' };
  await waitFor('the build to be done', 300, async () => {
    const shown = await as(ann, 'get', kinds, '--output=yaml').catch((error: unknown) => String(error));
    seen.all += shown;
    if (shown.includes('coppice.dev/build:')) seen.jobs = shown;
    const { status } = await harness.client.environment(id);
    return status === 'built' || undefined;
  });
  expect(seen.jobs).toContain('--opt=build-arg:TOKEN=$(BUILD_ARGUMENT_0)');
  expectNoSecret(seen.all);

  const { weburl } = await harness.built(id);
  const { PASSWORD, BUILD_TOKEN } = secrets;
  await pageWith(weburl, `argument ${PASSWORD}; environment ${PASSWORD}; build ${md5(BUILD_TOKEN)}`);

  // kubectl lists the objects and then gets each, so it fails when the pod that measures volumes ends in between.
  const described = await waitFor('objects that stay while they are described', 30, () => as(ann, 'describe', kinds));
  expect(described).toMatch(/PASSWORD: +<set to the key 'PASSWORD' in secret 'values-web-/);
  expect(described).toMatch(/MODE: +test/);
  expectNoSecret(described);
  expectNoSecret(await as(ann, 'get', kinds, '--output=yaml', '--show-managed-fields'));
  expect(await as(ann, 'logs', 'deployments/web')).toContain('started in test');
  expect(await as(ann, 'logs', '--selector=coppice.dev/service=web-migrate')).toContain('migrated');
  const environment = await harness.kubectl(
    ['--as', ann, '--namespace', `group-${harness.group}`].concat('get', 'environments.coppice.dev', '--output=yaml'),
  );
  expect(environment).toContain('revision:');
  expectNoSecret(environment);
}, 400_000);

test.each([
  ['another group', bob, ['get', 'pods']],
  ['another group', bob, ['logs', 'deployments/web']],
  ['the group', ann, ['get', 'secrets']],
  ['the group', ann, ['get', 'configmaps']],
  ['the group', ann, ['delete', 'pods', '--all']],
])(
  'refuses a member of %s: %s %j',
  async (_of, user, args) => {
    await expect(as(user, ...args)).rejects.toThrow(/Forbidden|forbidden/);
  },
  60_000,
);

test('lets nobody into a pod', async () => {
  await expect(as(ann, 'exec', await podName(), '--', 'env')).rejects.toThrow(/orbidden/);
}, 60_000);

test('refuses a secret variable where the cluster would show it', async () => {
  const serviceFile = Buffer.from('services: { web: { image: "busybox:${PIN}" } }').toString('base64');
  const answer = await harness.client.call(
    z.object({ errors: z.array(z.object({ message: z.string() })) }),
    'POST',
    `/api/repository/${repository}/check`,
    { serviceFile },
  );
  expect(answer.errors.map(({ message }) => message)).toEqual([expect.stringContaining('the variable PIN is secret')]);
}, 60_000);

test('replaces no pod without a change, and a pod whose secret changed', async () => {
  const before = await podName();
  await build();
  expect(await podName()).toBe(before);
  await setVariable('PATCH', 'PASSWORD', changed);
  await build();
  const { weburl } = await harness.built(id);
  await pageWith(weburl, `argument ${changed}; environment ${changed};`, 60);
  await waitFor('the former pod to end', 60, async () => !(await podName()).includes(before) || undefined);
  expectNoSecret(await as(ann, 'get', kinds, '--output=yaml'));
  const left = await harness.kubectl(['get', 'secrets', '--namespace', namespaceOf(id), '--output=name']);
  expect(left.match(/values-web-[0-9a-f]{20}$/gm)).toHaveLength(1);
}, 400_000);

async function build(): Promise<void> {
  const number = (await harness.client.environment(id)).build?.number ?? 0;
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`);
  await harness.client.waitForEnvironment(
    id,
    (one) => one.status === 'built' && (one.build?.number ?? 0) > number && one.build?.result === 'succeeded',
  );
}

test('restores the access of members, and ends it with the membership', async () => {
  await harness.kubectl(['delete', 'rolebindings', 'members', '--namespace', namespaceOf(id)]);
  await waitFor('the member to be admitted again', 30, podName);
  await setMembers(harness.group, bob);
  await waitFor('the former member to be refused', 30, () => as(ann, 'get', 'pods').then(() => undefined, isForbidden));
  expect(await as(bob, 'get', 'pods')).toContain('web-');
}, 120_000);

function isForbidden(error: unknown): boolean {
  if (/orbidden/.test(String(error))) return true;
  throw error;
}
