// Images that another system builds from a commit, as far as a registry shows them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { pushRepository } from '../../sample/push-repository.ts';
import { conditionOf, namespaceOf, pageWith, randomName, startHarness, type Harness } from '../harness.ts';
import { TestRegistry } from '../registry-images.ts';

let harness: Harness;
let repository: string;
let url: string;
const registry = new TestRegistry();
const image = `coppice-test/${randomName('ci')}`;

beforeAll(async () => {
  harness = await startHarness('ci');
  url = `${harness.connection.gitUrl}/${harness.group}/ci.git`;
  await push('main', 'first');
  repository = await harness.addRepository('ci', url);
}, 60_000);

afterAll(() => harness.remove(), 60_000);

/** Pushes a commit whose image shows the text. `other`: the image of another service. */
function push(branch: string, text: string, other?: string): Promise<string> {
  const command = ['sh', '-c', `echo ${text} >/tmp/index.html && exec httpd -f -p 8080 -h /tmp`];
  const web = { image: `${image}:\${COPPICE_COMMIT}`, command, ports: ['8080:8080'] };
  const services = other === undefined ? { web } : { web, other: { image: other } };
  return pushRepository({ url, branch, files: { 'compose.yaml': stringify({ services }) } });
}

/** Does what CI does for a commit. */
function publish(commit: string): Promise<void> {
  return registry.copyWithLabel('docker.io/library/busybox:1', `docker.io/${image}:${commit}`, commit);
}

async function waits(id: string, commit: string): Promise<string> {
  const environment = await harness.client.waitForEnvironment(id, (now) => {
    const reconciling = conditionOf(now, 'Reconciling');
    return reconciling?.reason === 'WaitingForImages' && reconciling.message.includes(commit);
  });
  return conditionOf(environment, 'Reconciling')?.message ?? '';
}

const buildsSchema = z.array(z.looseObject({ number: z.number(), result: z.string() }));

async function deployedImage(id: string): Promise<string> {
  const path = '{.spec.template.spec.containers[0].image}';
  return harness.kubectl(['get', 'deployment', 'web', '--namespace', namespaceOf(id), '--output', `jsonpath=${path}`]);
}

async function appears(): Promise<void> {
  const commit = await push('appears', 'appeared');
  const id = await harness.spawn(repository, 'appears');
  const message = await waits(id, commit);
  expect(message).toMatch(new RegExp(`^build 1: waiting until .* for the image ${image}:${commit} of web \\(`));
  const builds = await harness.client.call(buildsSchema, 'GET', `/api/environment/${id}/builds`);
  expect(builds[0]).toMatchObject({ result: 'running', message: expect.stringContaining(commit) });
  expect(await harness.kubectl(['get', 'jobs,pods', '--namespace', namespaceOf(id), '--output', 'name'])).toBe('');
  await publish(commit);
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'appeared');
  expect(await deployedImage(id)).toMatch(new RegExp(`^${image}:${commit}@sha256:[0-9a-f]{64}$`));
}

/** A newer commit ends the wait, and its image is waited for in turn. */
async function movesOn(): Promise<void> {
  const first = await push('moves', 'first');
  const id = await harness.spawn(repository, 'moves');
  await waits(id, first);
  const second = await push('moves', 'second');
  await harness.client.call(z.unknown(), 'POST', `/api/environment/${id}/build`);
  await waits(id, second);
  await publish(second);
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'second');
  const builds = await harness.client.call(buildsSchema, 'GET', `/api/environment/${id}/builds`);
  expect(builds.map(({ result }) => result)).toEqual(['succeeded', 'superseded']);
}

async function missesItsDeadline(): Promise<void> {
  const commit = await push('misses', 'missed');
  const id = await harness.spawn(repository, 'misses');
  const environment = await harness.stalled(id);
  expect(conditionOf(environment, 'Built')).toMatchObject({
    reason: 'ImageMissing',
    message: expect.stringMatching(new RegExp(`the image ${image}:${commit} of web: .* then request a build$`)),
  });
}

/** Otherwise a member could find out by the log what is in the cluster. */
async function ignoresPrivateRegistries(): Promise<void> {
  const hidden = 'coppice-redis.coppice-system.svc.cluster.local:6379/app:${COPPICE_COMMIT}';
  const commit = await push('outside', 'outside', hidden);
  await publish(commit);
  const id = await harness.spawn(repository, 'outside');
  for await (const message of harness.client.log(id)) {
    if (!JSON.stringify(message).includes(`app:${commit} is not waited for`)) continue;
    expect(JSON.stringify(message)).toContain('its registry has a private address');
    return;
  }
  throw new Error('the log does not name the image');
}

/** A build that waits is deleted with its environment at once. */
async function isDeleted(): Promise<void> {
  const commit = await push('deleted', 'deleted');
  const id = await harness.spawn(repository, 'deleted');
  await waits(id, commit);
  const [group = '', name = ''] = id.split('.');
  const args = ['delete', 'environments.coppice.dev', name, '--namespace', `group-${group}`, '--timeout', '60s'];
  await harness.kubectl(args, { deadline: 90 });
}

test('a build waits for the image of its commit, and no longer than it should', async () => {
  await Promise.all([appears(), movesOn(), missesItsDeadline(), ignoresPrivateRegistries(), isDeleted()]);
}, 240_000);
