import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { waitFor } from '../../support/wait-for.ts';
import { pushRepository } from '../../sample/push-repository.ts';
import { conditionOf, pageWith, startHarness, type Harness } from '../harness.ts';
import { pushPullRequest } from '../push-pull-request.ts';

let harness: Harness;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('own');
  const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  const command = ['sh', '-c', 'env >/tmp/index.html && exec httpd -f -p 8080 -h /tmp'];
  const environment = ['GREETING=${GREETING:-none}', 'LEVEL=info'];
  const services = { web: { image: 'busybox:1', command, environment, ports: ['8080:8080'] } };
  const files = { 'compose.yaml': stringify({ services }) };
  await pushRepository({ url, branch: 'main', files });
  await pushPullRequest(url, 'main', 1);
  repository = await harness.addRepository('shop', url);
  await send('POST', `/repository/${repository}/variables`, { name: 'GREETING', value: 'of the repository' });
}, 60_000);

afterAll(() => harness.remove(), 60_000);

const send = (method: string, path: string, body?: object) =>
  harness.client.call(z.unknown(), method, `/api${path}`, body);
const overrides = (id: string) => `/environment/${id}/overrides`;
const serviceFile = (text: string) => ({ serviceFile: Buffer.from(text).toString('base64') });

/** Builds again, and waits until the build has ended. */
async function build(id: string, request: 'build' | 'rebuild' = 'build'): Promise<void> {
  await send('POST', `/environment/${id}/${request}`);
  await harness.client.waitForEnvironment(id, ({ status }) => status === 'built');
}

/** Returns the two variables on the page. */
async function pageOf(weburl: string, text: string): Promise<string[]> {
  const page = await pageWith(weburl, text, 60);
  return page
    .split('\n')
    .filter((line) => /^(GREETING|LEVEL)=/.test(line))
    .sort();
}

const column = async (id: string) => {
  const [group = '', name = ''] = id.split('.');
  const path = '{.status.conditions[?(@.type=="Overridden")].status}';
  const args = ['get', 'cenv', name, '--namespace', `group-${group}`, '--output', `jsonpath=${path}`];
  return harness.kubectl(args);
};

const variablesSchema = z.object({ variables: z.array(z.looseObject({ name: z.string(), from: z.string() })) });

async function overridesOne(): Promise<void> {
  const { client, kubectl } = harness;
  const id = await harness.spawn(repository, 'main');
  const other = await harness.spawn(repository, 'main', { name: 'Another' });
  const { weburl } = await harness.built(id);
  expect(await pageOf(weburl, 'LEVEL=')).toEqual(['GREETING=of the repository', 'LEVEL=info']);

  await send('POST', `${overrides(id)}/variables`, { name: 'GREETING', value: 'of one', secret: true });
  await send('POST', overrides(id), serviceFile('services: { web: { environment: { LEVEL: debug } } }'));
  await build(id);
  const own = ['GREETING=of one', 'LEVEL=debug'];
  expect(await pageOf(weburl, 'LEVEL=debug')).toEqual(own);
  const { variables } = await client.call(variablesSchema, 'GET', `/api/environment/${id}/variables`);
  expect(variables.find(({ name }) => name === 'GREETING')).toMatchObject({
    ...{ value: '', secret: true, from: 'environment', overrides: 'repository' },
  });
  expect(await column(id)).toBe('True');

  const { weburl: otherUrl } = await harness.built(other);
  expect(await pageOf(otherUrl, 'LEVEL=')).toEqual(['GREETING=of the repository', 'LEVEL=info']);
  expect(await column(other)).toBe('');

  await build(id, 'rebuild');
  expect(await pageOf(weburl, 'LEVEL=debug')).toEqual(own);

  const mistyped = await client.send('POST', `/api${overrides(id)}`, serviceFile('services: { web: { imag: x } }'));
  expect([mistyped.status, mistyped.text]).toEqual([422, expect.stringContaining('did you mean')]);
  await send('POST', overrides(id), serviceFile('services:\n  web:\n    ports: x\n'));
  await send('POST', `/environment/${id}/build`);
  const broken = await client.waitForEnvironment(id, (now) => conditionOf(now, 'Built')?.status === 'False');
  expect(conditionOf(broken, 'Built')?.message).toMatch(/overrides:3:\d+/);
  expect(broken.status).toBe('built');
  expect(await pageOf(weburl, 'LEVEL=debug')).toEqual(own);

  const [group = '', name = ''] = id.split('.');
  const namespace = ['--namespace', `group-${group}`];
  const names = ['get', 'secrets', ...namespace, '--output', 'jsonpath={.items[*].metadata.name}'];
  const secrets = async () => (await kubectl(names)).split(' ').filter((one) => one.includes(`-${name}-`));
  expect(await secrets()).toHaveLength(2);
  await kubectl(['delete', 'environments.coppice.dev', name, ...namespace, '--timeout', '90s'], { deadline: 120 });
  await waitFor(
    'the Secrets of the overrides to be deleted',
    60,
    async () => (await secrets()).length === 0 || undefined,
  );
}

/** A pull request of unknown origin gets none, however they are written. */
async function withholdsFromForks(): Promise<void> {
  const { client } = harness;
  const body = { gitRef: { name: '1', type: 'pull request' } };
  const spawned = await client.call(
    z.looseObject({ id: z.string() }),
    'POST',
    `/api/repository/${repository}/spawn`,
    body,
  );
  const { id } = spawned;
  const { weburl } = await harness.built(id);
  const refused = await client.send('POST', `/api${overrides(id)}/variables`, { name: 'GREETING', value: 'secret' });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('is not trusted')]);
  const [group = '', name = ''] = id.split('.');
  const variables = [{ name: 'GREETING', value: 'secret' }];
  const content = 'services: { web: { environment: { LEVEL: secret } } }';
  const patch = JSON.stringify({ spec: { overrides: { variables, serviceFile: { content } } } });
  const object = ['environments.coppice.dev', name, '--namespace', `group-${group}`];
  await harness.kubectl(['patch', ...object, '--type', 'merge', '--patch', patch]);
  await harness.kubectl(['wait', ...object, '--for', 'condition=Overridden=false', '--timeout', '30s']);
  await build(id);
  expect(await pageOf(weburl, 'LEVEL=')).toEqual(['GREETING=none', 'LEVEL=info']);
}

test('overrides change one environment alone, and none of a fork', async () => {
  await Promise.all([overridesOne(), withholdsFromForks()]);
}, 300_000);
