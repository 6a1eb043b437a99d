import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { pushRepository } from '../sample/push-repository.ts';
import { waitFor } from '../support/wait-for.ts';
import { conditionOf, namespaceOf, pageWith, startHarness, type Harness } from './harness.ts';

let harness: Harness;
let origin: string;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('settings');
  origin = `${harness.connection.gitUrl}/${harness.group}/echo.git`;
  await pushRepository({ url: origin, branch: 'main', files: echo });
  repository = await harness.addRepository('echo', origin);
}, 60_000);

afterAll(() => harness.remove(), 60_000);

/** A page that shows the container's environment; its build fails without the build's variable. */
const echo = {
  'compose.yaml': stringify({
    services: {
      web: {
        build: { context: '.', args: ['BUILD_WORD'] },
        ports: ['8080:8080'],
        environment: { GREETING: '${GREETING}', WHO: 'from ${WHO}', LEVEL: '${LEVEL:-default}', APPLIED: '${APPLIED}' },
      },
    },
  }),
  Dockerfile: [
    'FROM busybox:1',
    'ARG BUILD_WORD',
    'RUN test "$BUILD_WORD" = "swordfish"',
    'COPY --chmod=755 index.cgi /www/cgi-bin/',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
    '',
  ].join('\n'),
  'index.cgi': ['#!/bin/sh', 'echo "Content-Type: text/plain"', 'echo', 'env', ''].join('\n'),
};

/** Returns the variables of this test that the page shows. */
function variablesOn(page: string): Record<string, string> {
  const lines = page
    .split('\n')
    .map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.replace(/^[^=]*=/, '')]);
  const names = ['GREETING', 'WHO', 'LEVEL', 'APPLIED', 'BUILD_WORD'];
  return Object.fromEntries(lines.filter(([name]) => names.includes(name)));
}

const settingsSchema = z.looseObject({
  variables: z.array(z.looseObject({ name: z.string(), value: z.string(), visibility: z.string() })),
});

const ofGroup = () => `/api/group/${harness.group}`;
const ofRepository = () => `/api/repository/${repository}`;
const post = (path: string, body?: object) => harness.client.call(z.unknown(), 'POST', path, body);

async function statusOf(method: string, path: string, body?: object): Promise<number> {
  return (await harness.client.send(method, path, body)).status;
}

function secretsOfGroup(): Promise<string> {
  return harness.kubectl(['get', 'secrets', '--namespace', `group-${harness.group}`, '--output', 'name']);
}

test('passes variables of group and repository, set by the REST API or kubectl, to build and container', async () => {
  await post(`${ofGroup()}/variables`, { name: 'GREETING', value: 'hello $USER' });
  await post(`${ofGroup()}/variables`, { name: 'WHO', value: 'the group' });
  await post(`${ofGroup()}/variables`, { name: 'BUILD_WORD', value: 'swordfish', visibility: 'buildtime' });
  await post(`${ofRepository()}/variables`, { name: 'WHO', value: 'the repository' });
  await applyVariable();
  const { variables } = await harness.client.call(settingsSchema, 'GET', `${ofGroup()}/settings`);
  expect(variables).toEqual([
    { name: 'GREETING', value: 'hello $USER', visibility: 'always' },
    { name: 'WHO', value: 'the group', visibility: 'always' },
    { name: 'BUILD_WORD', value: 'swordfish', visibility: 'buildtime' },
    { name: 'APPLIED', value: 'by kubectl', visibility: 'always' },
  ]);
  const yaml = await harness.kubectl(['get', 'groups.coppice.dev', harness.group, '--output', 'yaml']);
  expect(yaml).not.toContain('swordfish');

  const id = await harness.spawn(repository, 'main');
  const { weburl } = await harness.built(id);
  const page = await pageWith(weburl, 'GREETING');
  const seen = { GREETING: 'hello $USER', WHO: 'from the repository', LEVEL: 'default', APPLIED: 'by kubectl' };
  expect(variablesOn(page)).toEqual(seen);

  await harness.client.call(z.unknown(), 'PATCH', `${ofGroup()}/variables`, { name: 'GREETING', value: 'good bye' });
  await post(`/api/environment/${id}/build`);
  await pageWith(weburl, 'good bye', 120);
}, 400_000);

/** Adds a variable like a GitOps tool, with its value in a Secret that was created manually. */
async function applyVariable(): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'vault', namespace: `group-${harness.group}` },
    stringData: { word: 'by kubectl' },
  };
  const group = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Group',
    metadata: { name: harness.group },
    spec: { variables: [{ name: 'APPLIED', valueFrom: { secretKeyRef: { name: 'vault', key: 'word' } } }] },
  };
  const input = [secret, group].map((one) => stringify(one)).join('---\n');
  await harness.kubectl(['apply', '--server-side', '--filename', '-'], { input });
}

test('refuses a build-only variable outside of builds, by its name', async () => {
  const other = await harness.addRepository('refused', origin);
  const path = `/api/repository/${other}/variables`;
  await post(path, { name: 'LEVEL', value: 'top-secret-word', visibility: 'buildtime' });
  const id = await harness.spawn(other, 'main');
  const environment = await harness.stalled(id);
  const { message } = conditionOf(environment, 'Stalled') ?? {};
  expect(message).toContain('LEVEL');
  expect(JSON.stringify(environment)).not.toContain('top-secret-word');
}, 200_000);

test('keeps all of many concurrent writes, and no values after deletion', async () => {
  const names = Array.from({ length: 10 }, (_one, index) => `MANY_${index}`);
  const path = `/api/repository/${await harness.addRepository('many', origin)}`;
  const answers = await Promise.all(
    [...names, 'MANY_0'].map((name) => statusOf('POST', `${path}/variables`, { name, value: `value of ${name}` })),
  );
  expect(answers.sort()).toEqual([...names.map(() => 201), 409]);
  const { variables } = await harness.client.call(settingsSchema, 'GET', `${path}/settings`);
  expect(variables.map(({ value }) => value).sort()).toEqual(names.map((name) => `value of ${name}`));
  expect(await secretsOfGroup()).toContain('variables-many-');
  expect(await statusOf('DELETE', path)).toBe(202);
  await gone('secrets', 'variables-many-');
}, 90_000);

test('checks a service file with variables without spawning anything', async () => {
  const check = async (yaml: string) =>
    harness.client.call(
      z.object({
        services: z.array(z.looseObject({ name: z.string() })),
        warnings: z.array(z.unknown()),
        errors: z.array(z.unknown()),
      }),
      'POST',
      `${ofRepository()}/check`,
      { serviceFile: Buffer.from(yaml).toString('base64') },
    );
  expect(await check(echo['compose.yaml'])).toMatchObject({ services: [{ name: 'web' }], errors: [] });
  expect(await check('services: { web: { image: a, privileged: true } }')).toMatchObject({
    services: [],
    errors: [{ file: 'compose.yaml', path: 'services.web.privileged', line: 1 }],
  });
}, 60_000);

test('applies the TTL of new environments, and a service file that no commit contains', async () => {
  const other = await harness.addRepository('panel', origin);
  const serviceFile = Buffer.from(
    stringify({ services: { one: { build: { context: '.', args: { BUILD_WORD: 'swordfish' } }, ports: ['8080'] } } }),
  ).toString('base64');
  const settings = { environmentTTL: '3600', serviceFile: { mode: 'panel', serviceFile } };
  await post(`/api/repository/${other}/settings`, settings);
  const [id, endless] = [
    await harness.spawn(other, 'main', { build: false }),
    await harness.spawn(other, 'main', { build: false, ttl: 0 }),
  ];
  const created = await harness.client.waitForEnvironment(id, ({ status }) => status === 'created', 60);
  expect(created).toMatchObject({ ttl: 3600 });
  const names = () => harness.kubectl(['get', 'deployments', '--namespace', namespaceOf(id), '--output', 'name']);
  expect(await names()).toContain('/one');
  const other2 = await harness.client.waitForEnvironment(endless, ({ status }) => status === 'created', 60);
  expect(other2).not.toHaveProperty('ttl');

  expect(await statusOf('POST', `/api/repository/${other}`, { name: 'The Panel' })).toBe(200);
  expect(await statusOf('DELETE', `/api/repository/${other}`)).toBe(202);
  await gone('namespaces', namespaceOf(id));
}, 200_000);

test('adds and removes members through the REST API', async () => {
  const bob = await harness.newUser();
  expect((await bob.send('GET', ofGroup())).status).toBe(404);
  await post(`${ofGroup()}/members`, { name: bob.email });
  expect((await bob.send('GET', ofGroup())).status).toBe(200);
  expect((await bob.send('POST', `${ofGroup()}/leave`)).status).toBe(200);
  expect((await bob.send('GET', ofGroup())).status).toBe(404);
  expect(await statusOf('POST', `${ofGroup()}/leave`)).toBe(409);
  expect(await statusOf('DELETE', `${ofGroup()}/members/${encodeURIComponent(harness.client.email ?? '')}`)).toBe(409);
}, 60_000);

async function gone(kind: string, name: string): Promise<void> {
  await waitFor(`the end of ${kind} ${name}`, 60, async () => {
    const left = await harness.kubectl(['get', kind, '--all-namespaces', '--output', 'name']);
    return left.includes(name) ? undefined : true;
  });
}
